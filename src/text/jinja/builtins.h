// The filters, tests, globals and methods that Jinja and Python give a template. The parser looks
// filters and tests up by name; the evaluator calls them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace qwick::jinja {

using FilterFunction = Value (*)(Runtime& runtime, const Value& input, Args args);
using TestFunction = bool (*)(Runtime& runtime, const Value& input, Args args);

FilterFunction find_filter(std::string_view name);  // null where there is none
TestFunction find_test(std::string_view name);
// Jinja has these and we don't: a template that uses one is refused when it is compiled.
bool is_unsupported_filter(std::string_view name);
// Methods of Python's types that we don't have, whatever they are called on.
bool is_unsupported_method(std::string_view name);

// range, dict, namespace, ...: missing where there is no such global.
Value make_global(std::string_view name);
bool is_unsupported_global(std::string_view name);

// Binds arguments to parameters as Python does. `input`, where given, is the first parameter; missing
// values mark what was not given. Throws TemplateError for too few, too many, or unknown ones.
void bind_values(const char* function, Args& args, const char* const* names, Value* out, size_t count,
                 size_t required);

template <size_t N>
std::array<Value, N> bind(const char* function, Args& args, const std::array<const char*, N>& names,
                          size_t required) {
  std::array<Value, N> out;
  bind_values(function, args, names.data(), out.data(), N, required);
  return out;
}

// The value as text, str(); strings stay as they are, marked ones too.
Value soft_string(Runtime& runtime, const Value& value);

std::string to_json(Runtime& runtime, const Value& value, Args args);

}  // namespace qwick::jinja
