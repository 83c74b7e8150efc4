// Text of values: str % values, str.format(), and numbers in a given format.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace qwick::jinja {

class Budget;
class Runtime;

Value format_percent(Budget& budget, const Value& format, const Value& arguments);
// str.format(*args, **kwargs).
Value format_braces(Runtime& runtime, const Value& format, Args args);
// format(value, spec): Python's format specification mini-language for strings and numbers.
std::string format_spec(Budget& budget, const Value& value, std::string_view spec);

}  // namespace qwick::jinja
