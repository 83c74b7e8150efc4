// Values of a template as Python has them: numbers, strings, lists, tuples, dicts and the callables of
// Jinja. A Value is small and cheap to copy: containers and strings are shared and immutable, except
// for namespaces. Used throughout text/jinja; nothing of it leaves a render call.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace qwick::jinja {

class Runtime;
class Value;

// What a template does wrong at run time, or a bound that was passed. Runtime adds name and line.
class TemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Type : uint8_t {
  kMissing,  // no value at all: an unset variable or argument; never seen by a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,      // dict.keys(), .values(), .items()
  kIterator,  // one pass: what filters as map and select give
  kNamespace,
  kNative,  // macros, functions, methods, loop, cycler, joiner
};

// Containers nest at most so deep, which bounds every recursion over values.
inline constexpr int kMaxValueDepth = 100;

// What is shared between values. Depth counts the containers below.
struct Object {
  explicit Object(int nesting = 0);  // throws TemplateError beyond kMaxValueDepth
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  int depth;
};

struct StringObject;
struct SequenceObject;
struct DictObject;
struct RangeObject;
struct ViewObject;
struct IteratorObject;
struct NamespaceObject;
struct NativeObject;
struct UndefinedObject;

using Values = std::vector<Value>;

class Value {
 public:
  Value() = default;
  static Value none() { return Value(Type::kNone); }
  static Value boolean(bool x);
  static Value integer(int64_t x);
  static Value integer(size_t x) { return integer(static_cast<int64_t>(x)); }
  static Value real(double x);
  static Value string(std::string text, bool markup = false);
  static Value list(Values items);
  static Value tuple(Values items);
  static Value dict(std::shared_ptr<DictObject> dict);
  static Value undefined(std::string_view name);       // "'name' is undefined"
  static Value undefined_hint(std::string_view hint);  // a message of its own
  static Value undefined_member(const Value& object, Value name);
  static Value object(Type type, std::shared_ptr<Object> object);

  Type type() const { return type_; }
  bool is(Type type) const { return type_ == type; }
  bool is_missing() const { return type_ == Type::kMissing; }
  bool is_undefined() const { return type_ == Type::kUndefined; }
  bool is_none() const { return type_ == Type::kNone; }
  bool is_string() const { return type_ == Type::kString; }
  bool is_integral() const {
    return type_ == Type::kInt || type_ == Type::kBool;
  }  // bool is an int in Python
  bool is_number() const { return is_integral() || type_ == Type::kFloat; }
  bool is_sequence() const { return type_ == Type::kList || type_ == Type::kTuple; }

  // Each only for the types it names.
  int64_t as_int() const {
    return type_ == Type::kBool ? static_cast<int64_t>(scalar_.boolean) : scalar_.integer;
  }
  double as_double() const { return type_ == Type::kFloat ? scalar_.real : static_cast<double>(as_int()); }
  const StringObject& string_object() const;
  const std::string& text() const;
  const Values& items() const;  // list, tuple
  const DictObject& dict() const;
  const RangeObject& range() const;
  const ViewObject& view() const;
  IteratorObject& iterator() const;
  std::shared_ptr<IteratorObject> shared_iterator() const;
  NamespaceObject& ns() const;
  NativeObject& native() const;
  const UndefinedObject& undefined_object() const;
  const Object* object() const { return object_.get(); }
  int depth() const { return object_ ? object_->depth : 0; }
  // The text of a string that nobody else holds, to be changed in place; null where it is shared.
  StringObject* exclusive_string();

 private:
  explicit Value(Type type) : type_(type) {}

  Type type_ = Type::kMissing;
  union {
    bool boolean;
    int64_t integer = 0;
    double real;
  } scalar_;
  std::shared_ptr<Object> object_;
};

struct StringObject : Object {
  StringObject(std::string bytes, bool is_markup);
  bool is_ascii() const { return length == text.size(); }

  std::string text;
  size_t length;  // in code points
  bool markup;    // marked safe: `+` escapes what is joined to it
};

struct SequenceObject : Object {
  explicit SequenceObject(Values values);
  Values items;
  size_t weight = 1;  // number of values in it, nested ones too
};

// Keeps the order of insertion. Keys compare as in Python (1, 1.0 and True are one key).
struct DictObject : Object {
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;  // throws TemplateError for a key that can't be hashed
  void set(Value key, Value value);           // only while being built

  std::vector<std::pair<Value, Value>> entries;

 private:
  const Value* find_hashed(const Value& key, size_t hash) const;
  std::unordered_multimap<size_t, size_t> index_;  // hash -> entry, from kIndexFrom entries on
};

struct RangeObject : Object {
  RangeObject(int64_t begin, int64_t end, int64_t stride, int64_t length)
      : start(begin), stop(end), step(stride), count(length) {}
  int64_t start;
  int64_t stop;
  int64_t step;
  int64_t count;
};

struct ViewObject : Object {
  enum class Kind : uint8_t { kKeys, kValues, kItems };
  ViewObject(Kind which, const Value& of, Values values);
  Kind kind;
  Value source;
  Values items;
};

struct IteratorObject : Object {
  using Object::Object;
  virtual bool next(Value& out) = 0;  // false at the end
};

struct NamespaceObject : Object {
  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
  std::vector<std::pair<std::string, Value>> attributes;
};

// Arguments of a call. Keyword names are those of the template.
struct Args {
  Values positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

struct NativeObject : Object {
  using Object::Object;
  virtual bool callable() const { return true; }
  virtual Value call(Runtime& runtime, Args args) = 0;
  // `self` is the value that holds this object; missing where there is no such attribute.
  virtual Value attribute(Runtime& runtime, const Value& self, std::string_view name);
  virtual std::string repr() const = 0;
  virtual const char* type_name() const = 0;
};

struct UndefinedObject : Object {
  std::string hint;             // the whole message, or
  const char* owner = nullptr;  // type of the object whose member it is, or null for a variable
  Value name;
};

const char* type_name(const Value& value);  // Python's: "str", "dict"
// Why the undefined value is undefined: the message of Jinja's UndefinedError.
std::string undefined_message(const Value& value);
bool truth(const Value& value);

}  // namespace qwick::jinja
