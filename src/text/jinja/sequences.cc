// What Python does with sequences and containers: subscripts, slices, iteration, len().
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

// Items of a list, tuple or view; the value keeps them alive.
class ItemIterator final : public IteratorObject {
 public:
  ItemIterator(const Value& source, const Values& items)
      : IteratorObject(source.depth() + 1), source_(source), items_(items) {}
  bool next(Value& out) override {
    if (index_ >= items_.size()) return false;
    out = items_[index_++];
    return true;
  }

 private:
  Value source_;
  const Values& items_;
  size_t index_ = 0;
};

class KeyIterator final : public IteratorObject {
 public:
  explicit KeyIterator(const Value& dict) : IteratorObject(dict.depth() + 1), dict_(dict) {}
  bool next(Value& out) override {
    const auto& entries = dict_.dict().entries;
    if (index_ >= entries.size()) return false;
    out = entries[index_++].first;
    return true;
  }

 private:
  Value dict_;
  size_t index_ = 0;
};

class CharIterator final : public IteratorObject {
 public:
  explicit CharIterator(const Value& text) : text_(text) {}
  bool next(Value& out) override {
    const std::string& text = text_.text();
    if (pos_ >= text.size()) return false;
    const size_t begin = pos_;
    next_char(text, pos_);
    out = Value::string(text.substr(begin, pos_ - begin));  // never marked, as in Python
    return true;
  }

 private:
  Value text_;
  size_t pos_ = 0;
};

class RangeIterator final : public IteratorObject {
 public:
  explicit RangeIterator(const Value& range) : range_(range) {}
  bool next(Value& out) override {
    const RangeObject& range = range_.range();
    if (index_ >= range.count) return false;
    out = Value::integer(range.start + range.step * index_++);
    return true;
  }

 private:
  Value range_;
  int64_t index_ = 0;
};

class EmptyIterator final : public IteratorObject {
 public:
  bool next(Value&) override { return false; }
};

// Where slice bounds end up in a sequence of `length`, and how many items that selects.
struct SliceBounds {
  int64_t start;
  int64_t stop;
  int64_t step;
  int64_t count;
};

int64_t slice_index(const Value& value, int64_t length, int64_t lowest, int64_t highest) {
  if (!value.is_integral()) {
    throw TemplateError("slice indices must be integers or None or have an __index__ method");
  }
  int64_t index = value.as_int();
  if (index < 0) index = index < -length ? lowest : index + length;
  return std::clamp(index, lowest, highest);
}

SliceBounds slice_bounds(int64_t length, const Value& start, const Value& stop, const Value& step) {
  const auto given = [](const Value& x) { return !x.is_missing() && !x.is_none(); };
  int64_t stride = 1;
  if (given(step)) {
    stride =
        slice_index(step, 0, std::numeric_limits<int64_t>::min() + 1, std::numeric_limits<int64_t>::max());
    if (stride < 0) stride = step.as_int() == std::numeric_limits<int64_t>::min() ? stride : step.as_int();
  }
  if (stride == 0) throw TemplateError("slice step cannot be zero");
  const bool forward = stride > 0;
  const int64_t lowest = forward ? 0 : -1;
  const int64_t highest = forward ? length : length - 1;
  const int64_t begin =
      given(start) ? slice_index(start, length, lowest, highest) : (forward ? lowest : highest);
  const int64_t end = given(stop) ? slice_index(stop, length, lowest, highest) : (forward ? highest : lowest);
  int64_t count = 0;
  if (forward && begin < end) count = (end - begin - 1) / stride + 1;
  if (!forward && end < begin) count = (begin - end - 1) / -stride + 1;
  return {begin, end, stride, count};
}

Value slice_string(Budget& budget, const StringObject& text, const SliceBounds& bounds) {
  const std::string& bytes = text.text;
  if (bounds.count == 0) return Value::string("", text.markup);
  const auto start = static_cast<size_t>(bounds.start);
  const auto count = static_cast<size_t>(bounds.count);
  if (bounds.step == 1) {
    if (text.is_ascii()) {
      budget.bytes(count);
      return Value::string(bytes.substr(start, count), text.markup);
    }
    budget.bytes(bytes.size());
    const size_t begin = char_offset(bytes, start);
    const size_t size = char_offset(std::string_view(bytes).substr(begin), count);
    return Value::string(bytes.substr(begin, size), text.markup);
  }
  budget.bytes(text.is_ascii() ? count : bytes.size() + text.length * sizeof(char32_t));
  std::string out;
  if (text.is_ascii()) {
    for (int64_t i = 0; i < bounds.count; ++i)
      out.push_back(bytes[static_cast<size_t>(bounds.start + i * bounds.step)]);
  } else {
    std::u32string chars;
    for (size_t pos = 0; pos < bytes.size();) chars.push_back(next_char(bytes, pos));
    for (int64_t i = 0; i < bounds.count; ++i)
      append_char(out, chars[static_cast<size_t>(bounds.start + i * bounds.step)]);
  }
  return Value::string(std::move(out), text.markup);
}

}  // namespace

Value subscript(const Value& value, const Value& index) {
  switch (value.type()) {
    case Type::kUndefined:
      throw TemplateError(undefined_message(value));
    case Type::kDict: {
      const Type kind = index.type();
      if (kind == Type::kList || kind == Type::kDict || kind == Type::kView)
        return {};  // unhashable: TypeError
      const Value* found = value.dict().find(index);
      return found == nullptr ? Value() : *found;
    }
    case Type::kList:
    case Type::kTuple:
    case Type::kString:
    case Type::kRange:
      break;
    default:
      return {};
  }
  if (!index.is_integral()) return {};
  const auto size = static_cast<int64_t>(length(value));
  const int64_t i = index.as_int() < 0 ? index.as_int() + size : index.as_int();
  if (i < 0 || i >= size) return {};
  if (value.is(Type::kRange)) return Value::integer(value.range().start + value.range().step * i);
  if (value.is_sequence()) return value.items()[static_cast<size_t>(i)];
  const StringObject& text = value.string_object();
  const auto at = static_cast<size_t>(i);
  if (text.is_ascii()) return Value::string(text.text.substr(at, 1), text.markup);
  const size_t begin = char_offset(text.text, at);
  size_t end = begin;
  next_char(text.text, end);
  return Value::string(text.text.substr(begin, end - begin), text.markup);
}

Value slice(Budget& budget, const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (!value.is_string() && !value.is_sequence() && !value.is(Type::kRange)) {
    throw TemplateError(fmt::format("'{}' object is not subscriptable by a slice", type_name(value)));
  }
  const SliceBounds bounds = slice_bounds(static_cast<int64_t>(length(value)), start, stop, step);
  if (value.is_string()) return slice_string(budget, value.string_object(), bounds);
  if (value.is(Type::kRange)) {
    const RangeObject& range = value.range();
    int64_t stride = 0;
    if (__builtin_mul_overflow(range.step, bounds.step, &stride)) stride = range.step;
    return Value::object(Type::kRange, std::make_shared<RangeObject>(range.start + range.step * bounds.start,
                                                                     range.start + range.step * bounds.stop,
                                                                     stride, bounds.count));
  }
  budget.bytes(static_cast<size_t>(bounds.count) * sizeof(Value));
  Values items;
  items.reserve(static_cast<size_t>(bounds.count));
  for (int64_t i = 0; i < bounds.count; ++i) {
    items.push_back(value.items()[static_cast<size_t>(bounds.start + i * bounds.step)]);
  }
  return value.is(Type::kList) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

bool is_iterable(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
    case Type::kString:
    case Type::kList:
    case Type::kTuple:
    case Type::kDict:
    case Type::kRange:
    case Type::kView:
    case Type::kIterator:
      return true;
    default:
      return false;
  }
}

std::shared_ptr<IteratorObject> iterate(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
      return std::make_shared<EmptyIterator>();
    case Type::kString:
      return std::make_shared<CharIterator>(value);
    case Type::kList:
    case Type::kTuple:
      return std::make_shared<ItemIterator>(value, value.items());
    case Type::kView:
      return std::make_shared<ItemIterator>(value, value.view().items);
    case Type::kDict:
      return std::make_shared<KeyIterator>(value);
    case Type::kRange:
      return std::make_shared<RangeIterator>(value);
    case Type::kIterator:
      return value.shared_iterator();
    default:
      throw TemplateError(fmt::format("'{}' object is not iterable", type_name(value)));
  }
}

Values to_values(Budget& budget, const Value& value) {
  Values out;
  if (const int64_t size = length_or_negative(value); size > 0) out.reserve(static_cast<size_t>(size));
  const auto iterator = iterate(value);
  Value item;
  while (iterator->next(item)) {
    budget.bytes(sizeof(Value));
    budget.step();
    out.push_back(std::move(item));
  }
  return out;
}

int64_t length_or_negative(const Value& value) {
  switch (value.type()) {
    case Type::kUndefined:
      return 0;
    case Type::kString:
      return static_cast<int64_t>(value.string_object().length);
    case Type::kList:
    case Type::kTuple:
      return static_cast<int64_t>(value.items().size());
    case Type::kDict:
      return static_cast<int64_t>(value.dict().entries.size());
    case Type::kRange:
      return value.range().count;
    case Type::kView:
      return static_cast<int64_t>(value.view().items.size());
    default:
      return -1;
  }
}

size_t length(const Value& value) {
  const int64_t size = length_or_negative(value);
  if (size < 0) throw TemplateError(fmt::format("object of type '{}' has no len()", type_name(value)));
  return static_cast<size_t>(size);
}

}  // namespace qwick::jinja
