// Attributes and methods of values: what `value.name` and `value[name]` find, sandboxed as Jinja's
// immutable sandbox does it. Called by the evaluator, by filters and by str.format.
#pragma once

#include <string_view>

#include "text/jinja/value.h"

namespace qwick::jinja {

using MethodFunction = Value (*)(Runtime& runtime, const Value& self, Args args);

// The method of a str, dict, list or tuple; null where there is none.
MethodFunction find_method(const Value& value, std::string_view name);
MethodFunction find_string_method(std::string_view name);  // methods.cc

// What Python's getattr finds; missing where it finds nothing, undefined where the sandbox forbids it.
Value python_attribute(Runtime& runtime, const Value& value, std::string_view name);
// value.name and value[index]; an undefined value where there is nothing.
Value get_attribute(Runtime& runtime, const Value& value, std::string_view name);
Value get_item(Runtime& runtime, const Value& value, const Value& index);

// What the groupby filter gives: a pair whose parts are also called grouper and list.
struct GroupObject : SequenceObject {
  using SequenceObject::SequenceObject;
};

}  // namespace qwick::jinja
