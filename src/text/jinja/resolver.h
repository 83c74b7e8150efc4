// Decides where every variable of a template lives, by Jinja's scoping: what a loop, a macro or a block
// sets stays inside, what is read before it is set comes from outside. Fills the slots, scopes and
// functions of the tree in place, and refuses what can't run: unknown filters, tests and globals,
// break outside of a loop. Called once per template, after the parser.
#pragma once

#include <string>

#include "text/jinja/ast.h"

namespace qwick::jinja {

// Throws Error kUnsupported "NAME, line N: ...".
void resolve(Function& root, const std::string& name);

}  // namespace qwick::jinja
