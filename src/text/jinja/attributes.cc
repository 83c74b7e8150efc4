// Attributes and methods of values.
#include "text/jinja/attributes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "text/jinja/builtins.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {
namespace {

struct Method {
  std::string_view name;
  MethodFunction function;
};

Value dict_view(Runtime& runtime, const Value& self, Args& args, ViewObject::Kind kind) {
  bind<0>("dict view", args, {}, 0);
  Values items;
  runtime.budget().bytes(self.dict().entries.size() * sizeof(Value));
  for (const auto& [key, value] : self.dict().entries) {
    switch (kind) {
      case ViewObject::Kind::kKeys:
        items.push_back(key);
        break;
      case ViewObject::Kind::kValues:
        items.push_back(value);
        break;
      case ViewObject::Kind::kItems:
        items.push_back(Value::tuple({key, value}));
        break;
    }
  }
  return Value::object(Type::kView, std::make_shared<ViewObject>(kind, self, std::move(items)));
}

Value dict_keys(Runtime& runtime, const Value& self, Args args) {
  return dict_view(runtime, self, args, ViewObject::Kind::kKeys);
}

Value dict_values(Runtime& runtime, const Value& self, Args args) {
  return dict_view(runtime, self, args, ViewObject::Kind::kValues);
}

Value dict_items(Runtime& runtime, const Value& self, Args args) {
  return dict_view(runtime, self, args, ViewObject::Kind::kItems);
}

Value dict_get(Runtime&, const Value& self, Args args) {
  if (!args.keyword.empty()) throw TemplateError("dict.get() takes no keyword arguments");
  auto [key, fallback] = bind<2>("get", args, {"key", "default"}, 1);
  const Value* found = self.dict().find(key);
  if (found != nullptr) return *found;
  return fallback.is_missing() ? Value::none() : fallback;
}

Value copy_value(Runtime&, const Value& self, Args args) {
  bind<0>("copy", args, {}, 0);
  return self;  // values don't change, so a copy is as good as the value itself
}

Value sequence_count(Runtime& runtime, const Value& self, Args args) {
  auto [wanted] = bind<1>("count", args, {"value"}, 1);
  int64_t count = 0;
  for (const Value& item : self.items()) count += equal(runtime.budget(), item, wanted) ? 1 : 0;
  return Value::integer(count);
}

Value sequence_index(Runtime& runtime, const Value& self, Args args) {
  auto [wanted, start, stop] = bind<3>("index", args, {"value", "start", "stop"}, 1);
  const auto size = static_cast<int64_t>(self.items().size());
  const auto bound = [&](const Value& x, int64_t fallback) {
    if (x.is_missing()) return fallback;
    const int64_t i = checked_integer(x, "index()");
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t end = bound(stop, size);
  for (int64_t i = bound(start, 0); i < end; ++i) {
    if (equal(runtime.budget(), self.items()[static_cast<size_t>(i)], wanted)) return Value::integer(i);
  }
  throw TemplateError("the value is not in the list");
}

Value float_is_integer(Runtime&, const Value& self, Args args) {
  bind<0>("is_integer", args, {}, 0);
  return Value::boolean(std::isfinite(self.as_double()) && self.as_double() == std::floor(self.as_double()));
}

constexpr Method kDictMethods[] = {{"items", dict_items},
                                   {"get", dict_get},
                                   {"keys", dict_keys},
                                   {"values", dict_values},
                                   {"copy", copy_value}};
constexpr Method kListMethods[] = {
    {"index", sequence_index}, {"count", sequence_count}, {"copy", copy_value}};
constexpr Method kTupleMethods[] = {{"index", sequence_index}, {"count", sequence_count}};
constexpr Method kFloatMethods[] = {{"is_integer", float_is_integer}};

template <size_t N>
MethodFunction find_in(const Method (&methods)[N], std::string_view name) {
  for (const Method& method : methods) {
    if (method.name == name) return method.function;
  }
  return nullptr;
}

// Methods that would change a value: the sandbox hides them.
bool is_mutating(Type type, std::string_view name) {
  constexpr std::string_view kList[] = {"append", "clear", "pop",    "reverse",
                                        "insert", "sort",  "extend", "remove"};
  constexpr std::string_view kDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
  if (type == Type::kList) return std::find(std::begin(kList), std::end(kList), name) != std::end(kList);
  if (type == Type::kDict) return std::find(std::begin(kDict), std::end(kDict), name) != std::end(kDict);
  return false;
}

class BoundMethod final : public NativeObject {
 public:
  BoundMethod(const Value& self, std::string_view name, MethodFunction function)
      : NativeObject(self.depth() + 1), self_(self), name_(name), function_(function) {}
  Value call(Runtime& runtime, Args args) override { return function_(runtime, self_, std::move(args)); }
  std::string repr() const override {
    return fmt::format("<built-in method {} of {} object>", name_, jinja::type_name(self_));
  }
  const char* type_name() const override { return "builtin_function_or_method"; }

 private:
  Value self_;
  std::string name_;
  MethodFunction function_;
};

Value number_attribute(const Value& value, std::string_view name) {
  const bool integral = value.is_integral();
  if (name == "real") return integral ? Value::integer(value.as_int()) : value;
  if (name == "imag") return integral ? Value::integer(int64_t{0}) : Value::real(0);
  if (integral && name == "numerator") return Value::integer(value.as_int());
  if (integral && name == "denominator") return Value::integer(int64_t{1});
  return {};
}

Value unsafe(const Value& value, std::string_view name) {
  return Value::undefined_hint(
      fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(value)));
}

bool is_dunder(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

}  // namespace

MethodFunction find_method(const Value& value, std::string_view name) {
  switch (value.type()) {
    case Type::kString:
      return find_string_method(name);
    case Type::kDict:
      return find_in(kDictMethods, name);
    case Type::kList:
      return find_in(kListMethods, name);
    case Type::kTuple:
      return find_in(kTupleMethods, name);
    case Type::kFloat:
      return find_in(kFloatMethods, name);
    default:
      return nullptr;
  }
}

Value python_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (const MethodFunction method = find_method(value, name); method != nullptr) {
    return Value::object(Type::kNative, std::make_shared<BoundMethod>(value, name, method));
  }
  switch (value.type()) {
    case Type::kNamespace: {
      const Value* found = value.ns().find(name);
      return found == nullptr ? Value() : *found;
    }
    case Type::kNative:
      return value.native().attribute(runtime, value, name);
    case Type::kBool:
    case Type::kInt:
    case Type::kFloat:
      if (Value found = number_attribute(value, name); !found.is_missing()) return found;
      break;
    case Type::kTuple:
      if (dynamic_cast<const GroupObject*>(value.object()) != nullptr) {
        if (name == "grouper") return value.items()[0];
        if (name == "list") return value.items()[1];
      }
      break;
    default:
      break;
  }
  if (is_dunder(name) || is_mutating(value.type(), name)) return unsafe(value, name);
  if (!value.is(Type::kDict) && is_unsupported_method(name)) {
    throw TemplateError(fmt::format("the method '{}' is not supported", name));
  }
  return {};
}

Value get_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  Value found = python_attribute(runtime, value, name);
  if (!found.is_missing()) return found;
  if (value.is(Type::kDict)) {
    if (const Value* item = value.dict().find(name); item != nullptr) return *item;
  }
  return Value::undefined_member(value, Value::string(std::string(name)));
}

Value get_item(Runtime& runtime, const Value& value, const Value& index) {
  Value found = subscript(value, index);
  if (!found.is_missing()) return found;
  if (index.is_string()) {
    found = python_attribute(runtime, value, index.text());
    if (!found.is_missing()) return found;
  }
  return Value::undefined_member(value, index);
}

}  // namespace qwick::jinja
