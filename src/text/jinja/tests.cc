// Tests: what stands behind `is`.
#include <fmt/core.h>

#include <unordered_map>

#include "text/jinja/builtins.h"
#include "text/jinja/filters.h"
#include "text/jinja/runtime.h"
#include "text/jinja/text_ops.h"

namespace qwick::jinja {
namespace {

void no_arguments(Args& args) {
  bind<0>("test", args, {}, 0);
}

template <bool (*kTest)(const Value&)>
bool check(Runtime&, const Value& input, Args args) {
  no_arguments(args);
  return kTest(input);
}

bool defined(const Value& x) {
  return !x.is_undefined();
}
bool undefined(const Value& x) {
  return x.is_undefined();
}
bool none(const Value& x) {
  return x.is_none();
}
bool boolean(const Value& x) {
  return x.is(Type::kBool);
}
bool is_true(const Value& x) {
  return x.is(Type::kBool) && x.as_int() != 0;
}
bool is_false(const Value& x) {
  return x.is(Type::kBool) && x.as_int() == 0;
}
bool integer(const Value& x) {
  return x.is(Type::kInt);
}
bool floating(const Value& x) {
  return x.is(Type::kFloat);
}
bool number(const Value& x) {
  return x.is_number();
}
bool string(const Value& x) {
  return x.is_string();
}
bool mapping(const Value& x) {
  return x.is(Type::kDict);
}
bool escaped(const Value& x) {
  return x.is_string() && x.string_object().markup;
}
bool callable(const Value& x) {
  return x.is_undefined() || (x.is(Type::kNative) && x.native().callable());
}

bool sequence(const Value& x) {
  // A length and subscripts: views and iterators lack the one or the other.
  return length_or_negative(x) >= 0 && !x.is(Type::kView);
}

bool lower(Runtime& runtime, const Value& input, Args args) {
  no_arguments(args);
  return is_lower_text(runtime.text_of(input));
}

bool upper(Runtime& runtime, const Value& input, Args args) {
  no_arguments(args);
  return is_upper_text(runtime.text_of(input));
}

bool divides(Runtime& runtime, const Value& input, const Value& by, int64_t rest) {
  const Value remainder = apply_binary(runtime.budget(), BinaryOp::kMod, input, by);
  return equal(runtime.budget(), remainder, Value::integer(rest));
}

bool odd(Runtime& runtime, const Value& input, Args args) {
  no_arguments(args);
  return divides(runtime, input, Value::integer(int64_t{2}), 1);
}

bool even(Runtime& runtime, const Value& input, Args args) {
  no_arguments(args);
  return divides(runtime, input, Value::integer(int64_t{2}), 0);
}

bool divisible_by(Runtime& runtime, const Value& input, Args args) {
  auto [by] = bind<1>("divisibleby", args, {"num"}, 1);
  return divides(runtime, input, by, 0);
}

bool same_as(Runtime& runtime, const Value& input, Args args) {
  auto [other] = bind<1>("sameas", args, {"other"}, 1);
  if (input.type() != other.type()) return false;
  if (input.object() != nullptr || other.object() != nullptr) {
    // Python shares equal short strings and the like; two equal texts count as the same here.
    return input.object() == other.object() || (input.is_string() && input.text() == other.text());
  }
  return equal(runtime.budget(), input, other);
}

bool in(Runtime& runtime, const Value& input, Args args) {
  auto [container] = bind<1>("in", args, {"seq"}, 1);
  return contains(runtime.budget(), container, input);
}

template <CompareOp kOp>
bool compare(Runtime& runtime, const Value& input, Args args) {
  auto [other] = bind<1>("comparison", args, {"other"}, 1);
  return apply_compare(runtime.budget(), kOp, input, other);
}

bool filter_exists(Runtime&, const Value& input, Args args) {
  no_arguments(args);
  return input.is_string() && (find_filter(input.text()) != nullptr || is_unsupported_filter(input.text()));
}

bool test_exists(Runtime&, const Value& input, Args args) {
  no_arguments(args);
  return input.is_string() && find_test(input.text()) != nullptr;
}

bool iterable(const Value& x) {
  return is_iterable(x);
}

}  // namespace

TestFunction find_test(std::string_view name) {
  static const std::unordered_map<std::string_view, TestFunction> tests = {
      {"defined", check<defined>},
      {"undefined", check<undefined>},
      {"none", check<none>},
      {"boolean", check<boolean>},
      {"true", check<is_true>},
      {"false", check<is_false>},
      {"integer", check<integer>},
      {"float", check<floating>},
      {"number", check<number>},
      {"string", check<string>},
      {"mapping", check<mapping>},
      {"sequence", check<sequence>},
      {"iterable", check<iterable>},
      {"callable", check<callable>},
      {"escaped", check<escaped>},
      {"lower", lower},
      {"upper", upper},
      {"odd", odd},
      {"even", even},
      {"divisibleby", divisible_by},
      {"sameas", same_as},
      {"in", in},
      {"filter", filter_exists},
      {"test", test_exists},
      {"==", compare<CompareOp::kEq>},
      {"eq", compare<CompareOp::kEq>},
      {"equalto", compare<CompareOp::kEq>},
      {"!=", compare<CompareOp::kNe>},
      {"ne", compare<CompareOp::kNe>},
      {">", compare<CompareOp::kGt>},
      {"gt", compare<CompareOp::kGt>},
      {"greaterthan", compare<CompareOp::kGt>},
      {">=", compare<CompareOp::kGe>},
      {"ge", compare<CompareOp::kGe>},
      {"<", compare<CompareOp::kLt>},
      {"lt", compare<CompareOp::kLt>},
      {"lessthan", compare<CompareOp::kLt>},
      {"<=", compare<CompareOp::kLe>},
      {"le", compare<CompareOp::kLe>},
  };
  const auto it = tests.find(name);
  return it == tests.end() ? nullptr : it->second;
}

}  // namespace qwick::jinja
