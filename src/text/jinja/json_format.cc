// Values to JSON text as Python's json.dumps writes it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/builtins.h"
#include "text/jinja/runtime.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, JsonStyle style) : runtime_(runtime), style_(std::move(style)) {}

  std::string run(const Value& value) {
    write(value, 0);
    return std::move(out_);
  }

 private:
  void write(const Value& value, size_t level);
  void write_string(std::string_view text);
  void write_items(const Values& items, size_t level);
  void write_dict(const DictObject& dict, size_t level);
  std::string number(const Value& value) const;
  std::string key_text(const Value& key) const;
  void new_line(size_t level) {
    if (!style_.indented) return;
    out_ += '\n';
    for (size_t i = 0; i < level; ++i) out_ += style_.indent;
    runtime_.budget().bytes(level * style_.indent.size());
  }
  void escape(char32_t c);

  Runtime& runtime_;
  const JsonStyle style_;
  std::string out_;
};

void JsonWriter::escape(char32_t c) {
  switch (c) {
    case '"':
      out_ += "\\\"";
      break;
    case '\\':
      out_ += "\\\\";
      break;
    case '\n':
      out_ += "\\n";
      break;
    case '\r':
      out_ += "\\r";
      break;
    case '\t':
      out_ += "\\t";
      break;
    case '\f':
      out_ += "\\f";
      break;
    case '\b':
      out_ += "\\b";
      break;
    default:
      if (c >= 0x10000) {
        const auto above = static_cast<uint32_t>(c - 0x10000);
        out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
      } else {
        out_ += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
      }
  }
}

void JsonWriter::write_string(std::string_view text) {
  runtime_.budget().bytes(text.size());
  out_ += '"';
  size_t plain = 0;  // begin of what needs no escape
  for (size_t pos = 0; pos < text.size();) {
    const auto byte = static_cast<unsigned char>(text[pos]);
    if (byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x7F || !style_.ensure_ascii)) {
      ++pos;
      continue;
    }
    out_ += text.substr(plain, pos - plain);
    escape(next_char(text, pos));
    plain = pos;
  }
  out_ += text.substr(plain);
  out_ += '"';
}

std::string JsonWriter::number(const Value& value) const {
  if (value.is(Type::kInt)) return fmt::format("{}", value.as_int());
  const double x = value.as_double();
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return format_double(x);
}

std::string JsonWriter::key_text(const Value& key) const {
  switch (key.type()) {
    case Type::kString:
      return key.text();
    case Type::kNone:
      return "null";
    case Type::kBool:
      return key.as_int() != 0 ? "true" : "false";
    case Type::kInt:
    case Type::kFloat:
      return number(key);
    default:
      throw TemplateError(fmt::format("keys must be str, int, float, bool or None, not {}", type_name(key)));
  }
}

void JsonWriter::write_items(const Values& items, size_t level) {
  if (items.empty()) {
    out_ += "[]";
    return;
  }
  out_ += '[';
  bool first = true;
  for (const Value& item : items) {
    if (!first) out_ += style_.item_separator;
    first = false;
    new_line(level + 1);
    write(item, level + 1);
  }
  new_line(level);
  out_ += ']';
}

void JsonWriter::write_dict(const DictObject& dict, size_t level) {
  if (dict.entries.empty()) {
    out_ += "{}";
    return;
  }
  std::vector<const std::pair<Value, Value>*> entries;
  entries.reserve(dict.entries.size());
  for (const auto& entry : dict.entries) entries.push_back(&entry);
  if (style_.sort_keys) {
    std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
      return less(runtime_.budget(), a->first, b->first);
    });
  }
  out_ += '{';
  bool first = true;
  for (const auto* entry : entries) {
    if (!first) out_ += style_.item_separator;
    first = false;
    new_line(level + 1);
    write_string(key_text(entry->first));
    out_ += style_.key_separator;
    write(entry->second, level + 1);
  }
  new_line(level);
  out_ += '}';
}

void JsonWriter::write(const Value& value, size_t level) {
  runtime_.budget().step();
  switch (value.type()) {
    case Type::kNone:
      out_ += "null";
      return;
    case Type::kBool:
      out_ += value.as_int() != 0 ? "true" : "false";
      return;
    case Type::kInt:
    case Type::kFloat:
      out_ += number(value);
      return;
    case Type::kString:
      return write_string(value.text());
    case Type::kList:
    case Type::kTuple:
      return write_items(value.items(), level);
    case Type::kDict:
      return write_dict(value.dict(), level);
    default:
      throw TemplateError(fmt::format("Object of type {} is not JSON serializable", type_name(value)));
  }
}

}  // namespace

std::string to_json(Runtime& runtime, const Value& value, Args args) {
  auto [ensure_ascii, indent, separators, sort_keys] =
      bind<4>("tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0);
  JsonStyle style;
  style.ensure_ascii = truth(ensure_ascii);
  style.sort_keys = truth(sort_keys);
  if (!indent.is_missing() && !indent.is_none()) {
    style.indented = true;
    style.item_separator = ',';
    if (indent.is_string()) {
      style.indent = indent.text();
    } else {
      const int64_t width = std::max<int64_t>(checked_integer(indent, "indent"), 0);
      runtime.budget().bytes(static_cast<size_t>(width));
      style.indent.assign(static_cast<size_t>(width), ' ');
    }
  }
  if (!separators.is_missing() && !separators.is_none()) {
    const Values pair = to_values(runtime.budget(), separators);
    if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      throw TemplateError("separators must be a pair of strings");
    }
    style.item_separator = pair[0].text();
    style.key_separator = pair[1].text();
  }
  return JsonWriter(runtime, std::move(style)).run(value);
}

}  // namespace qwick::jinja
