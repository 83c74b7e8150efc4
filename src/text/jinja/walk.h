// Walking over the syntax tree, in Jinja's order of children. Used by the resolver and by what looks
// for variables in a template.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "text/jinja/ast.h"

namespace qwick::jinja {

void for_each_child(const Expr& expr, const std::function<void(Expr&)>& visit);
// The expression and everything below it, top down.
void walk_expressions(const Expr& expr, const std::function<void(const Expr&)>& visit);

// Every name in the statements, inner scopes included, in Jinja's order: read, assigned (set, for), or
// declared (parameters of macros, variables of with).
struct NameVisitor {
  std::function<void(const std::string&)> read;
  std::function<void(const std::string&)> assigned;
  std::function<void(const std::string&)> declared;
};
void walk_names(const Body& body, const NameVisitor& visitor);
void walk_targets(const Expr& target, const std::function<void(const std::string&)>& visit);
void walk_assigned_names(const Body& body, const std::function<void(const std::string&)>& visit);
// Those of `names` that the body reads before it assigns them.
std::set<std::string> reads_undeclared(const Body& body, std::set<std::string> names);

}  // namespace qwick::jinja
