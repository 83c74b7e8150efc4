// Python's operators on values: comparison, arithmetic, membership, subscripts, iteration, and the
// budget that bounds them. All throw TemplateError for what Python refuses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace qwick::jinja {

// What a render call may still use. One step is about one operation on one value.
class Budget {
 public:
  Budget(int64_t steps, int64_t bytes) : steps_(steps), bytes_(bytes) {}
  void step(int64_t n = 1) {
    steps_ -= n;
    if (steps_ < 0) throw TemplateError("the template takes too many steps");
  }
  // For memory that is written, and text that is read through.
  void bytes(size_t n);

 private:
  int64_t steps_;
  int64_t bytes_;
};

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
enum class CompareOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

Value apply_binary(Budget& budget, BinaryOp op, Value left, const Value& right);
Value negate(const Value& value);
Value positive(const Value& value);
bool apply_compare(Budget& budget, CompareOp op, const Value& left, const Value& right);
bool equal(Budget& budget, const Value& left, const Value& right);
bool less(Budget& budget, const Value& left, const Value& right);
bool contains(Budget& budget, const Value& container, const Value& item);

size_t hash_string(std::string_view text);
size_t hash_value(const Value& value);  // throws for what can't be a key
bool equal_keys(const Value& left, const Value& right);

// value[index]; missing where Python raises LookupError or TypeError.
Value subscript(const Value& value, const Value& index);
Value slice(Budget& budget, const Value& value, const Value& start, const Value& stop, const Value& step);

// Throws for what can't be iterated. The iterator keeps the value alive.
std::shared_ptr<IteratorObject> iterate(const Value& value);
Values to_values(Budget& budget, const Value& value);
bool is_iterable(const Value& value);
// len(): negative where the value has none.
int64_t length_or_negative(const Value& value);
size_t length(const Value& value);

std::string to_text(Budget& budget, const Value& value);  // str()
std::string repr(Budget& budget, const Value& value);
std::string repr_string(std::string_view text);
std::string format_double(double x);  // repr(float)
std::string escape_html(std::string_view text);

int64_t checked_integer(const Value& value, const char* what);  // throws unless an int or a bool

}  // namespace qwick::jinja
