// Arithmetic and comparison, as Python's operators do them. Integers have 64 bits: what overflows is
// an error, never a wrong number.
#include "text/jinja/operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "text/jinja/format.h"

namespace qwick::jinja {
namespace {

constexpr size_t kMaxKeyWeight = 1000;

const char* symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kFloorDiv:
      return "//";
    case BinaryOp::kMod:
      return "%";
    case BinaryOp::kPow:
      return "**";
  }
  return "?";
}

[[noreturn]] void unsupported(const char* op, const Value& left, const Value& right) {
  throw TemplateError(
      fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", op, type_name(left), type_name(right)));
}

[[noreturn]] void overflow() { throw TemplateError("integer beyond 64 bits"); }

void refuse_undefined(const Value& left, const Value& right) {
  if (left.is_undefined()) throw TemplateError(undefined_message(left));
  if (right.is_undefined()) throw TemplateError(undefined_message(right));
}

int64_t integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      if (exponent > 0) overflow();
    }
  }
  return result;
}

Value integer_arithmetic(BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case BinaryOp::kDiv:
      if (b == 0) throw TemplateError("division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (b == 0) throw TemplateError("integer division or modulo by zero");
      if (b == -1) {
        if (op == BinaryOp::kMod) return Value::integer(int64_t{0});
        if (a == std::numeric_limits<int64_t>::min()) overflow();
        return Value::integer(-a);
      }
      const bool round_down = a % b != 0 && ((a < 0) != (b < 0));
      if (op == BinaryOp::kMod) return Value::integer(a % b + (round_down ? b : 0));
      return Value::integer(a / b - (round_down ? 1 : 0));
    }
    case BinaryOp::kPow:
      if (b >= 0) return Value::integer(integer_power(a, b));
      if (a == 0) throw TemplateError("0.0 cannot be raised to a negative power");
      return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
  return {};
}

double real_power(double a, double b) {
  if (a == 0 && b < 0) throw TemplateError("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    throw TemplateError("complex numbers are not supported");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) throw TemplateError("numerical result out of range");
  return result;
}

Value real_arithmetic(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::real(a + b);
    case BinaryOp::kSub:
      return Value::real(a - b);
    case BinaryOp::kMul:
      return Value::real(a * b);
    case BinaryOp::kDiv:
      if (b == 0) throw TemplateError("float division by zero");
      return Value::real(a / b);
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (b == 0) throw TemplateError("float divmod()");
      double remainder = std::fmod(a, b);
      double quotient = (a - remainder) / b;
      if (remainder != 0) {
        if ((b < 0) != (remainder < 0)) {
          remainder += b;
          quotient -= 1;
        }
      } else {
        remainder = std::copysign(0.0, b);
      }
      if (op == BinaryOp::kMod) return Value::real(remainder);
      if (quotient == 0) return Value::real(std::copysign(0.0, a / b));
      const double floored = std::floor(quotient);
      return Value::real(quotient - floored > 0.5 ? floored + 1 : floored);
    }
    case BinaryOp::kPow:
      return Value::real(real_power(a, b));
  }
  return {};
}

Value add_strings(Budget& budget, Value left, const Value& right) {
  const bool markup = left.string_object().markup || right.string_object().markup;
  if (markup && left.string_object().markup != right.string_object().markup) {
    const auto safe = [](const Value& x) { return x.string_object().markup ? x.text() : escape_html(x.text()); };
    std::string text = safe(left) + safe(right);
    budget.bytes(text.size());
    return Value::string(std::move(text), true);
  }
  const std::string& more = right.text();
  if (StringObject* own = left.exclusive_string(); own != nullptr) {
    budget.bytes(more.size());
    own->text += more;
    own->length += right.string_object().length;
    return left;
  }
  budget.bytes(left.text().size() + more.size());
  std::string text;
  text.reserve(left.text().size() + more.size());
  text += left.text();
  text += more;
  return Value::string(std::move(text), markup);
}

Value add_sequences(Budget& budget, const Value& left, const Value& right) {
  budget.bytes((left.items().size() + right.items().size()) * sizeof(Value));
  Values items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Type::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

Value repeat(Budget& budget, const Value& value, int64_t times) {
  const auto count = static_cast<size_t>(std::max<int64_t>(times, 0));
  const size_t unit = value.is_string() ? value.text().size() : value.items().size() * sizeof(Value);
  size_t total = 0;
  if (__builtin_mul_overflow(unit, count, &total)) throw TemplateError("repeated value too large");
  budget.bytes(total);
  if (value.is_string()) {
    std::string text;
    text.reserve(total);
    for (size_t i = 0; i < count && unit > 0; ++i) text += value.text();
    return Value::string(std::move(text), value.string_object().markup);
  }
  Values items;
  items.reserve(total / sizeof(Value));
  for (size_t i = 0; i < count && unit > 0; ++i) items.insert(items.end(), value.items().begin(), value.items().end());
  return value.is(Type::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

int compare_numbers(const Value& a, const Value& b, bool& unordered) {
  if (a.is_integral() && b.is_integral()) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
  const auto exact = [](const Value& x) -> long double {
    return x.is(Type::kFloat) ? static_cast<long double>(x.as_double()) : static_cast<long double>(x.as_int());
  };
  const long double x = exact(a);
  const long double y = exact(b);
  unordered = std::isnan(x) || std::isnan(y);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool equal_dicts(Budget& budget, const DictObject& left, const DictObject& right) {
  if (left.entries.size() != right.entries.size()) return false;
  for (const auto& [key, value] : left.entries) {
    const Value* other = right.find(key);
    if (other == nullptr || !equal(budget, value, *other)) return false;
  }
  return true;
}

bool equal_items(Budget& budget, const Values& left, const Values& right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!equal(budget, left[i], right[i])) return false;
  }
  return true;
}

// left < right, or left <= right, for the types that have an order.
bool ordered(Budget& budget, CompareOp op, const Value& left, const Value& right) {
  budget.step();
  refuse_undefined(left, right);
  const bool or_equal = op == CompareOp::kLe || op == CompareOp::kGe;
  const bool greater = op == CompareOp::kGt || op == CompareOp::kGe;
  if (left.is_number() && right.is_number()) {
    bool unordered = false;
    const int sign = compare_numbers(left, right, unordered) * (greater ? -1 : 1);
    return !unordered && (sign < 0 || (or_equal && sign == 0));
  }
  if (left.is_string() && right.is_string()) {
    // UTF-8 sorts by bytes as its code points do.
    const int sign = left.text().compare(right.text()) * (greater ? -1 : 1);
    return sign < 0 || (or_equal && sign == 0);
  }
  if (left.is_sequence() && left.type() == right.type()) {
    const Values& a = left.items();
    const Values& b = right.items();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (!equal(budget, a[i], b[i])) return ordered(budget, op, a[i], b[i]);
    }
    if (a.size() == b.size()) return or_equal;
    return (a.size() < b.size()) != greater;
  }
  constexpr const char* kSymbols[] = {"==", "!=", "<", "<=", ">", ">="};
  throw TemplateError(fmt::format("'{}' not supported between instances of '{}' and '{}'",
                                  kSymbols[static_cast<size_t>(op)], type_name(left), type_name(right)));
}

}  // namespace

void Budget::bytes(size_t n) {
  constexpr size_t kBytesPerStep = 64;
  if (n > static_cast<size_t>(std::max<int64_t>(bytes_, 0))) throw TemplateError("the template uses too much memory");
  bytes_ -= static_cast<int64_t>(n);
  step(static_cast<int64_t>(n / kBytesPerStep));
}

Value apply_binary(Budget& budget, BinaryOp op, Value left, const Value& right) {
  if (op == BinaryOp::kMod && left.is_string()) return format_percent(budget, left, right);
  refuse_undefined(left, right);
  if (left.is_number() && right.is_number()) {
    if (left.is_integral() && right.is_integral()) return integer_arithmetic(op, left.as_int(), right.as_int());
    return real_arithmetic(op, left.as_double(), right.as_double());
  }
  if (op == BinaryOp::kAdd) {
    if (left.is_string() && right.is_string()) return add_strings(budget, std::move(left), right);
    if (left.is_sequence() && left.type() == right.type()) return add_sequences(budget, left, right);
    if (left.is_string()) {
      throw TemplateError(fmt::format("can only concatenate str (not \"{}\") to str", type_name(right)));
    }
  }
  if (op == BinaryOp::kMul) {
    const auto repeats = [](const Value& x) { return x.is_string() || x.is_sequence(); };
    if (repeats(left) && right.is_integral()) return repeat(budget, left, right.as_int());
    if (repeats(right) && left.is_integral()) return repeat(budget, right, left.as_int());
  }
  unsupported(symbol(op), left, right);
}

Value negate(const Value& value) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (value.is(Type::kFloat)) return Value::real(-value.as_double());
  if (!value.is_integral()) throw TemplateError(fmt::format("bad operand type for unary -: '{}'", type_name(value)));
  if (value.as_int() == std::numeric_limits<int64_t>::min()) overflow();
  return Value::integer(-value.as_int());
}

Value positive(const Value& value) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (value.is(Type::kFloat)) return value;
  if (!value.is_integral()) throw TemplateError(fmt::format("bad operand type for unary +: '{}'", type_name(value)));
  return Value::integer(value.as_int());
}

bool apply_compare(Budget& budget, CompareOp op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOp::kEq:
      return equal(budget, left, right);
    case CompareOp::kNe:
      return !equal(budget, left, right);
    case CompareOp::kIn:
      return contains(budget, right, left);
    case CompareOp::kNotIn:
      return !contains(budget, right, left);
    default:
      return ordered(budget, op, left, right);
  }
}

bool equal(Budget& budget, const Value& left, const Value& right) {
  budget.step();
  if (left.is_number() && right.is_number()) {
    bool unordered = false;
    return compare_numbers(left, right, unordered) == 0 && !unordered;
  }
  if (left.type() != right.type()) return false;
  if (left.object() != nullptr && left.object() == right.object()) return true;
  switch (left.type()) {
    case Type::kUndefined:
    case Type::kNone:
      return true;
    case Type::kString:
      return left.text() == right.text();
    case Type::kList:
    case Type::kTuple:
      return equal_items(budget, left.items(), right.items());
    case Type::kDict:
      return equal_dicts(budget, left.dict(), right.dict());
    case Type::kRange: {
      const RangeObject& a = left.range();
      const RangeObject& b = right.range();
      if (a.count != b.count) return false;
      return a.count == 0 || (a.start == b.start && (a.count == 1 || a.step == b.step));
    }
    default:
      return false;
  }
}

bool less(Budget& budget, const Value& left, const Value& right) {
  return ordered(budget, CompareOp::kLt, left, right);
}

bool contains(Budget& budget, const Value& container, const Value& item) {
  switch (container.type()) {
    case Type::kString:
      if (!item.is_string()) {
        throw TemplateError(fmt::format("'in <string>' requires string as left operand, not {}", type_name(item)));
      }
      budget.step(static_cast<int64_t>(container.text().size() / 64));
      return container.text().find(item.text()) != std::string::npos;
    case Type::kDict:
      return container.dict().find(item) != nullptr;
    case Type::kView:
      if (container.view().kind == ViewObject::Kind::kKeys) return container.view().source.dict().find(item) != nullptr;
      break;
    default:
      break;
  }
  const auto iterator = iterate(container);
  Value candidate;
  while (iterator->next(candidate)) {
    if (equal(budget, candidate, item)) return true;
  }
  return false;
}

size_t hash_string(std::string_view text) { return std::hash<std::string_view>{}(text); }

size_t hash_value(const Value& value) {
  switch (value.type()) {
    case Type::kBool:
    case Type::kInt:
      return std::hash<int64_t>{}(value.as_int());
    case Type::kFloat: {
      const double x = value.as_double();
      if (x == std::floor(x) && std::abs(x) < 0x1p63) return std::hash<int64_t>{}(static_cast<int64_t>(x));
      return std::hash<double>{}(x);
    }
    case Type::kString:
      return hash_string(value.text());
    case Type::kTuple: {
      if (static_cast<const SequenceObject*>(value.object())->weight > kMaxKeyWeight) {
        throw TemplateError("tuple too large for a key");
      }
      size_t hash = value.items().size();
      for (const Value& item : value.items()) hash = hash * 1000003 + hash_value(item);
      return hash;
    }
    case Type::kNone:
    case Type::kUndefined:
      return static_cast<size_t>(value.type());
    case Type::kList:
    case Type::kDict:
    case Type::kView:
      throw TemplateError(fmt::format("unhashable type: '{}'", type_name(value)));
    default:
      return std::hash<const void*>{}(value.object());
  }
}

bool equal_keys(const Value& left, const Value& right) {
  if (left.is_string() && right.is_string()) return left.text() == right.text();
  if (left.is(Type::kTuple) && right.is(Type::kTuple)) {
    return std::equal(left.items().begin(), left.items().end(), right.items().begin(), right.items().end(),
                      equal_keys);
  }
  if (left.type() != right.type() && !(left.is_number() && right.is_number())) return false;
  if (left.object() != nullptr) return left.object() == right.object() || left.is_undefined();
  bool unordered = false;
  return left.is_none() || (compare_numbers(left, right, unordered) == 0 && !unordered);
}

int64_t checked_integer(const Value& value, const char* what) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (!value.is_integral()) {
    throw TemplateError(fmt::format("{}: '{}' object cannot be interpreted as an integer", what, type_name(value)));
  }
  return value.as_int();
}

}  // namespace qwick::jinja
