// A compiled template. Immutable and safe to share between threads: every render call has a runtime
// of its own.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/ast.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {

class Template {
 public:
  // Throws Error kUnsupported "NAME, line N: ..." for what can't be run.
  Template(std::string_view source, std::string name);

  // Throws Error kInvalidArgument "NAME, line N: ...": what the template raises, what goes wrong in it,
  // and a bound of `limits` that was passed.
  std::string render(const Variables& variables, const Limits& limits = {}) const;

  const std::string& name() const { return name_; }
  bool reads(std::string_view variable) const;

 private:
  std::string name_;
  Function root_;
};

}  // namespace qwick::jinja
