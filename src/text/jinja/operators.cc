// Arithmetic, as Python's operators do them. Integers have 64 bits: what overflows is
// an error, never a wrong number.
#include "text/jinja/operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/jinja/format.h"

namespace qwick::jinja {
namespace {

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
  throw TemplateError(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", op, type_name(left),
                                  type_name(right)));
}

[[noreturn]] void overflow() {
  throw TemplateError("integer beyond 64 bits");
}

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
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b))
    throw TemplateError("numerical result out of range");
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
    const auto safe = [](const Value& x) {
      return x.string_object().markup ? x.text() : escape_html(x.text());
    };
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
  for (size_t i = 0; i < count && unit > 0; ++i)
    items.insert(items.end(), value.items().begin(), value.items().end());
  return value.is(Type::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

}  // namespace

void Budget::bytes(size_t n) {
  constexpr size_t kBytesPerStep = 64;
  if (n > static_cast<size_t>(std::max<int64_t>(bytes_, 0)))
    throw TemplateError("the template uses too much memory");
  bytes_ -= static_cast<int64_t>(n);
  step(static_cast<int64_t>(n / kBytesPerStep));
}

Value apply_binary(Budget& budget, BinaryOp op, Value left, const Value& right) {
  if (op == BinaryOp::kMod && left.is_string()) return format_percent(budget, left, right);
  refuse_undefined(left, right);
  if (left.is_number() && right.is_number()) {
    if (left.is_integral() && right.is_integral())
      return integer_arithmetic(op, left.as_int(), right.as_int());
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
  if (!value.is_integral())
    throw TemplateError(fmt::format("bad operand type for unary -: '{}'", type_name(value)));
  if (value.as_int() == std::numeric_limits<int64_t>::min()) overflow();
  return Value::integer(-value.as_int());
}

Value positive(const Value& value) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (value.is(Type::kFloat)) return value;
  if (!value.is_integral())
    throw TemplateError(fmt::format("bad operand type for unary +: '{}'", type_name(value)));
  return Value::integer(value.as_int());
}

int64_t checked_integer(const Value& value, const char* what) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (!value.is_integral()) {
    throw TemplateError(
        fmt::format("{}: '{}' object cannot be interpreted as an integer", what, type_name(value)));
  }
  return value.as_int();
}

}  // namespace qwick::jinja
