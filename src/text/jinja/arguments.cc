// Binding of arguments to parameters, as Python calls functions.
#include <fmt/core.h>

#include "text/jinja/builtins.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {

void bind_values(const char* function, Args& args, const char* const* names, Value* out, size_t count,
                 size_t required) {
  if (args.positional.size() > count) {
    throw TemplateError(
        fmt::format("{}() takes at most {} argument(s) ({} given)", function, count, args.positional.size()));
  }
  for (size_t i = 0; i < args.positional.size(); ++i) out[i] = std::move(args.positional[i]);
  for (auto& [name, value] : args.keyword) {
    size_t i = 0;
    while (i < count && name != names[i]) ++i;
    if (i == count)
      throw TemplateError(fmt::format("{}() got an unexpected keyword argument '{}'", function, name));
    if (!out[i].is_missing()) {
      throw TemplateError(fmt::format("{}() got multiple values for argument '{}'", function, name));
    }
    out[i] = std::move(value);
  }
  for (size_t i = 0; i < required; ++i) {
    if (out[i].is_missing())
      throw TemplateError(fmt::format("{}() misses the argument '{}'", function, names[i]));
  }
}

Value soft_string(Runtime& runtime, const Value& value) {
  return value.is_string() ? value : runtime.make_string(runtime.text_of(value));
}

}  // namespace qwick::jinja
