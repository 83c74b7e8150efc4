// Values: construction, dictionaries, names of types.
#include "text/jinja/value.h"

#include <fmt/core.h>

#include <algorithm>

#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

constexpr size_t kIndexFrom = 12;

int depth_of(const Values& items) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  return depth;
}

}  // namespace

Object::Object(int nesting) : depth(nesting) {
  if (nesting > kMaxValueDepth) throw TemplateError("values nested too deeply");
}

Value Value::boolean(bool x) {
  Value value(Type::kBool);
  value.scalar_.boolean = x;
  return value;
}

Value Value::integer(int64_t x) {
  Value value(Type::kInt);
  value.scalar_.integer = x;
  return value;
}

Value Value::real(double x) {
  Value value(Type::kFloat);
  value.scalar_.real = x;
  return value;
}

Value Value::string(std::string text, bool markup) {
  return object(Type::kString, std::make_shared<StringObject>(std::move(text), markup));
}

Value Value::list(Values items) {
  return object(Type::kList, std::make_shared<SequenceObject>(std::move(items)));
}

Value Value::tuple(Values items) {
  return object(Type::kTuple, std::make_shared<SequenceObject>(std::move(items)));
}

Value Value::dict(std::shared_ptr<DictObject> dict) {
  return object(Type::kDict, std::move(dict));
}

Value Value::undefined(std::string_view name) {
  auto reason = std::make_shared<UndefinedObject>();
  reason->name = Value::string(std::string(name));
  return object(Type::kUndefined, std::move(reason));
}

Value Value::undefined_hint(std::string_view hint) {
  auto reason = std::make_shared<UndefinedObject>();
  reason->hint = hint;
  return object(Type::kUndefined, std::move(reason));
}

Value Value::undefined_member(const Value& object, Value name) {
  auto reason = std::make_shared<UndefinedObject>();
  reason->owner = jinja::type_name(object);
  reason->depth = name.depth();
  reason->name = std::move(name);
  return Value::object(Type::kUndefined, std::move(reason));
}

Value Value::object(Type type, std::shared_ptr<Object> object) {
  Value value(type);
  value.object_ = std::move(object);
  return value;
}

const StringObject& Value::string_object() const {
  return static_cast<const StringObject&>(*object_);
}
const std::string& Value::text() const {
  return string_object().text;
}
const Values& Value::items() const {
  return static_cast<const SequenceObject&>(*object_).items;
}
const DictObject& Value::dict() const {
  return static_cast<const DictObject&>(*object_);
}
const RangeObject& Value::range() const {
  return static_cast<const RangeObject&>(*object_);
}
const ViewObject& Value::view() const {
  return static_cast<const ViewObject&>(*object_);
}
IteratorObject& Value::iterator() const {
  return static_cast<IteratorObject&>(*object_);
}
std::shared_ptr<IteratorObject> Value::shared_iterator() const {
  return std::static_pointer_cast<IteratorObject>(object_);
}
NamespaceObject& Value::ns() const {
  return static_cast<NamespaceObject&>(*object_);
}
NativeObject& Value::native() const {
  return static_cast<NativeObject&>(*object_);
}
const UndefinedObject& Value::undefined_object() const {
  return static_cast<const UndefinedObject&>(*object_);
}

StringObject* Value::exclusive_string() {
  if (!is_string() || object_.use_count() != 1) return nullptr;
  return static_cast<StringObject*>(object_.get());
}

StringObject::StringObject(std::string bytes, bool is_markup)
    : text(std::move(bytes)), length(count_chars(text)), markup(is_markup) {}

SequenceObject::SequenceObject(Values values) : Object(depth_of(values) + 1), items(std::move(values)) {
  constexpr size_t kMost = SIZE_MAX / 2;
  for (const Value& item : items) {
    const size_t more = item.is_sequence() ? static_cast<const SequenceObject*>(item.object())->weight : 1;
    weight = std::min(kMost, weight + std::min(kMost, more));
  }
}

ViewObject::ViewObject(Kind which, const Value& of, Values values)
    : Object(std::max(of.depth(), depth_of(values)) + 1), kind(which), source(of), items(std::move(values)) {}

const Value* DictObject::find(std::string_view key) const {
  if (entries.size() >= kIndexFrom) return find_hashed(Value::string(std::string(key)), hash_string(key));
  for (const auto& [name, value] : entries) {
    if (name.is_string() && name.text() == key) return &value;
  }
  return nullptr;
}

const Value* DictObject::find(const Value& key) const {
  const size_t hash = hash_value(key);
  if (entries.size() >= kIndexFrom) return find_hashed(key, hash);
  for (const auto& [name, value] : entries) {
    if (equal_keys(name, key)) return &value;
  }
  return nullptr;
}

const Value* DictObject::find_hashed(const Value& key, size_t hash) const {
  const auto [begin, end] = index_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const auto& [name, value] = entries[it->second];
    if (equal_keys(name, key)) return &value;
  }
  return nullptr;
}

void DictObject::set(Value key, Value value) {
  const int nesting = std::max(key.depth(), value.depth()) + 1;
  if (nesting > kMaxValueDepth) throw TemplateError("values nested too deeply");
  depth = std::max(depth, nesting);
  if (const Value* old = find(key); old != nullptr) {
    const_cast<Value&>(*old) = std::move(value);
    return;
  }
  entries.emplace_back(std::move(key), std::move(value));
  if (entries.size() < kIndexFrom) return;
  for (size_t i = index_.size(); i < entries.size(); ++i) index_.emplace(hash_value(entries[i].first), i);
}

const Value* NamespaceObject::find(std::string_view name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

void NamespaceObject::set(std::string_view name, Value value) {
  for (auto& [key, old] : attributes) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  attributes.emplace_back(name, std::move(value));
}

Value NativeObject::attribute(Runtime&, const Value&, std::string_view) {
  return {};
}

const char* type_name(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kUndefined:
      return "Undefined";
    case Type::kNone:
      return "NoneType";
    case Type::kBool:
      return "bool";
    case Type::kInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kString:
      return value.string_object().markup ? "Markup" : "str";
    case Type::kList:
      return "list";
    case Type::kTuple:
      return "tuple";
    case Type::kDict:
      return "dict";
    case Type::kRange:
      return "range";
    case Type::kView:
      switch (value.view().kind) {
        case ViewObject::Kind::kKeys:
          return "dict_keys";
        case ViewObject::Kind::kValues:
          return "dict_values";
        case ViewObject::Kind::kItems:
          return "dict_items";
      }
      return "dict_items";
    case Type::kIterator:
      return "generator";
    case Type::kNamespace:
      return "Namespace";
    case Type::kNative:
      return value.native().type_name();
  }
  return "object";
}

bool truth(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kUndefined:
    case Type::kNone:
      return false;
    case Type::kBool:
    case Type::kInt:
      return value.as_int() != 0;
    case Type::kFloat:
      return value.as_double() != 0;
    case Type::kString:
      return !value.text().empty();
    case Type::kList:
    case Type::kTuple:
      return !value.items().empty();
    case Type::kDict:
      return !value.dict().entries.empty();
    case Type::kRange:
      return value.range().count != 0;
    case Type::kView:
      return !value.view().items.empty();
    case Type::kIterator:
    case Type::kNamespace:
    case Type::kNative:
      return true;
  }
  return false;
}

}  // namespace qwick::jinja
