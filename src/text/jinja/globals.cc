// Global functions of the template language: range, dict, namespace, cycler, joiner, and what
// transformers adds.
#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/runtime.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

constexpr int64_t kMaxRange = 100000;  // of Jinja's sandbox

using GlobalFunction = Value (*)(Runtime& runtime, Args args);

class Global final : public NativeObject {
 public:
  Global(const char* name, GlobalFunction function) : name_(name), function_(function) {}
  Value call(Runtime& runtime, Args args) override { return function_(runtime, std::move(args)); }
  std::string repr() const override { return fmt::format("<function {}>", name_); }
  const char* type_name() const override { return "function"; }

 private:
  const char* name_;
  GlobalFunction function_;
};

Value make_range(Runtime&, Args args) {
  if (!args.keyword.empty()) throw TemplateError("range() takes no keyword arguments");
  auto [first, second, third] = bind<3>("range", args, {"start", "stop", "step"}, 1);
  int64_t start = 0;
  int64_t stop = checked_integer(first, "range");
  if (!second.is_missing()) {
    start = stop;
    stop = checked_integer(second, "range");
  }
  const int64_t step = third.is_missing() ? 1 : checked_integer(third, "range");
  if (step == 0) throw TemplateError("range() arg 3 must not be zero");
  // The distances may need all 64 bits, so without a sign.
  uint64_t count = 0;
  const auto low = static_cast<uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<uint64_t>(step > 0 ? stop : start);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  if (step > 0 ? start < stop : stop < start) count = (high - low - 1) / stride + 1;
  if (count > kMaxRange) throw TemplateError("range too big: more than 100000 items");
  return Value::object(Type::kRange,
                       std::make_shared<RangeObject>(start, stop, step, static_cast<int64_t>(count)));
}

// dict(mapping or pairs, **more).
std::shared_ptr<DictObject> build_dict(Runtime& runtime, Args& args) {
  if (args.positional.size() > 1) throw TemplateError("dict expected at most 1 argument");
  auto dict = std::make_shared<DictObject>();
  if (!args.positional.empty() && args.positional[0].is(Type::kDict)) {
    for (const auto& [key, value] : args.positional[0].dict().entries) {
      runtime.budget().bytes(2 * sizeof(Value));
      dict->set(key, value);
    }
  } else if (!args.positional.empty()) {
    for (const Value& pair : to_values(runtime.budget(), args.positional[0])) {
      Values parts = to_values(runtime.budget(), pair);
      if (parts.size() != 2) throw TemplateError("dictionary update sequence element is not a pair");
      dict->set(std::move(parts[0]), std::move(parts[1]));
    }
  }
  for (auto& [name, value] : args.keyword) dict->set(Value::string(name), std::move(value));
  return dict;
}

Value make_dict(Runtime& runtime, Args args) {
  return Value::dict(build_dict(runtime, args));
}

Value make_namespace(Runtime& runtime, Args args) {
  std::vector<std::pair<std::string, Value>> attributes;
  const auto dict = build_dict(runtime, args);
  for (const auto& [key, value] : dict->entries) {
    if (!key.is_string()) continue;  // nothing can read it
    if (key.text().starts_with('_')) {
      throw TemplateError("names of namespace attributes must not begin with an underscore: '" + key.text() +
                          "'");
    }
    attributes.emplace_back(key.text(), value);
  }
  return runtime.new_namespace(std::move(attributes));
}

Value raise_exception(Runtime& runtime, Args args) {
  auto [message] = bind<1>("raise_exception", args, {"message"}, 1);
  throw TemplateError(runtime.text_of(message));
}

Value strftime_now(Runtime& runtime, Args args) {
  auto [format] = bind<1>("strftime_now", args, {"format"}, 1);
  if (!format.is_string()) throw TemplateError("strftime_now() needs a format string");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  if (format.text().empty()) return format;
  if (format.text().size() > 1000) throw TemplateError("strftime_now(): format too long");
  // A leading space tells an empty result from a buffer that is too small.
  const std::string padded = " " + format.text();
  std::string text(16384, '\0');
  const size_t size = std::strftime(text.data(), text.size(), padded.c_str(), &local);
  if (size == 0) throw TemplateError("strftime_now(): result too long");
  return runtime.make_string(text.substr(1, size - 1));
}

class Cycler final : public NativeObject {
 public:
  explicit Cycler(const Value& items) : NativeObject(items.depth() + 1), items_(items) {}
  bool callable() const override { return false; }
  Value call(Runtime&, Args) override { throw TemplateError("'Cycler' object is not callable"); }
  Value attribute(Runtime& runtime, const Value& self, std::string_view name) override;
  std::string repr() const override { return "<Cycler>"; }
  const char* type_name() const override { return "Cycler"; }

  Value advance() {
    const Value& current = items_.items()[position_];
    position_ = (position_ + 1) % items_.items().size();
    return current;
  }
  void reset() { position_ = 0; }

 private:
  Value items_;
  size_t position_ = 0;
};

class CyclerMethod final : public NativeObject {
 public:
  CyclerMethod(const Value& cycler, bool is_reset)
      : NativeObject(cycler.depth() + 1), cycler_(cycler), is_reset_(is_reset) {}
  Value call(Runtime&, Args args) override {
    bind<0>("cycler method", args, {}, 0);
    auto& cycler = static_cast<Cycler&>(cycler_.native());
    if (!is_reset_) return cycler.advance();
    cycler.reset();
    return Value::none();
  }
  std::string repr() const override { return "<bound method of Cycler>"; }
  const char* type_name() const override { return "method"; }

 private:
  Value cycler_;
  bool is_reset_;
};

Value Cycler::attribute(Runtime&, const Value& self, std::string_view name) {
  if (name == "current") return items_.items()[position_];
  if (name == "pos") return Value::integer(position_);
  if (name == "items") return items_;
  if (name == "next" || name == "reset") {
    return Value::object(Type::kNative, std::make_shared<CyclerMethod>(self, name == "reset"));
  }
  return {};
}

Value make_cycler(Runtime&, Args args) {
  if (!args.keyword.empty()) throw TemplateError("cycler() takes no keyword arguments");
  if (args.positional.empty()) throw TemplateError("at least one item has to be provided");
  return Value::object(Type::kNative, std::make_shared<Cycler>(Value::tuple(std::move(args.positional))));
}

class Joiner final : public NativeObject {
 public:
  explicit Joiner(const Value& separator) : NativeObject(separator.depth() + 1), separator_(separator) {}
  Value call(Runtime&, Args args) override {
    bind<0>("joiner", args, {}, 0);
    if (used_) return separator_;
    used_ = true;
    return Value::string("");
  }
  Value attribute(Runtime&, const Value&, std::string_view name) override {
    if (name == "sep") return separator_;
    return name == "used" ? Value::boolean(used_) : Value();
  }
  std::string repr() const override { return "<Joiner>"; }
  const char* type_name() const override { return "Joiner"; }

 private:
  Value separator_;
  bool used_ = false;
};

Value make_joiner(Runtime&, Args args) {
  auto [separator] = bind<1>("joiner", args, {"sep"}, 0);
  return Value::object(Type::kNative,
                       std::make_shared<Joiner>(separator.is_missing() ? Value::string(", ") : separator));
}

struct Entry {
  const char* name;
  GlobalFunction function;
};

constexpr Entry kGlobals[] = {
    {"range", make_range},          {"dict", make_dict},     {"namespace", make_namespace},
    {"cycler", make_cycler},        {"joiner", make_joiner}, {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
};

}  // namespace

Value make_global(std::string_view name) {
  for (const Entry& entry : kGlobals) {
    if (entry.name == name) {
      return Value::object(Type::kNative, std::make_shared<Global>(entry.name, entry.function));
    }
  }
  return {};
}

bool is_unsupported_global(std::string_view name) {
  return name == "lipsum";
}

}  // namespace qwick::jinja
