// A compiled template.
#include "text/jinja/template.h"

#include <utility>

#include "base/error.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"
#include "text/jinja/resolver.h"
#include "text/jinja/walk.h"

namespace qwick::jinja {

Template::Template(std::string_view source, std::string name) : name_(std::move(name)) {
  root_.body = Parser(tokenize(source, name_), name_).parse();
  resolve(root_, name_);
}

std::string Template::render(const Variables& variables, const Limits& limits) const {
  Runtime runtime(variables, limits);
  try {
    return runtime.render(root_);
  } catch (const TemplateError& error) {
    fail(ErrorCode::kInvalidArgument, "{}, line {}: {}", name_, runtime.line(), error.what());
  }
}

bool Template::reads(std::string_view variable) const {
  bool found = false;
  const auto ignore = [](const std::string&) {};
  walk_names(root_.body,
             {[&](const std::string& name) { found = found || name == variable; }, ignore, ignore});
  return found;
}

}  // namespace qwick::jinja
