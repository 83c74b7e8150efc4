// Comparison, membership and hashing, as Python's operators do them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/jinja/operators.h"

namespace qwick::jinja {
namespace {

constexpr size_t kMaxKeyWeight = 1000;  // values in a tuple that is used as a key

int compare_numbers(const Value& a, const Value& b, bool& unordered) {
  if (a.is_integral() && b.is_integral())
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
  const auto exact = [](const Value& x) -> long double {
    return x.is(Type::kFloat) ? static_cast<long double>(x.as_double())
                              : static_cast<long double>(x.as_int());
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
  if (left.is_undefined()) throw TemplateError(undefined_message(left));
  if (right.is_undefined()) throw TemplateError(undefined_message(right));
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
        throw TemplateError(
            fmt::format("'in <string>' requires string as left operand, not {}", type_name(item)));
      }
      budget.step(static_cast<int64_t>(container.text().size() / 64));
      return container.text().find(item.text()) != std::string::npos;
    case Type::kDict:
      return container.dict().find(item) != nullptr;
    case Type::kView:
      if (container.view().kind == ViewObject::Kind::kKeys)
        return container.view().source.dict().find(item) != nullptr;
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

size_t hash_string(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

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

}  // namespace qwick::jinja
