// What the filters' files share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "text/jinja/builtins.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {

struct FilterEntry {
  std::string_view name;
  FilterFunction function;
};

FilterFunction find_text_filter(std::string_view name);      // filters_text.cc
FilterFunction find_sequence_filter(std::string_view name);  // filters_sequence.cc
FilterFunction find_select_filter(std::string_view name);    // filters_select.cc

// An iterator whose items a function makes one by one, when they are asked for.
class Generator final : public IteratorObject {
 public:
  using Next = std::function<bool(Value&)>;
  Generator(int nesting, Next next) : IteratorObject(nesting), next_(std::move(next)) {}
  bool next(Value& out) override { return next_(out); }

 private:
  Next next_;
};

inline Value make_generator(const Value& source, Generator::Next next) {
  return Value::object(Type::kIterator, std::make_shared<Generator>(source.depth() + 2, std::move(next)));
}

// The value that an attribute path ("a.b.0", a number, or none at all) leads to from an item.
class AttributePath {
 public:
  AttributePath(Runtime& runtime, const Value& path);
  Value get(Runtime& runtime, const Value& item) const { return get(runtime, item, Value()); }
  Value get(Runtime& runtime, Value item, const Value& fallback) const;

 private:
  Values parts_;
};

// Strings in lower case, other values as they are: keys of a comparison that ignores case.
Value ignore_case(Runtime& runtime, const Value& value);

inline bool is_given(const Value& value) {
  return !value.is_missing() && !value.is_none();
}

}  // namespace qwick::jinja
