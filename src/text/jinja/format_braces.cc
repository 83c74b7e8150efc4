// str.format(), with the sandbox's lookups.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/jinja/attributes.h"
#include "text/jinja/format.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {
namespace {

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, Args args) : runtime_(runtime), args_(std::move(args)) {}

  std::string run(std::string_view format, int nesting) {
    if (nesting > 2) throw TemplateError("max string recursion exceeded");
    std::string out;
    for (size_t pos = 0; pos < format.size();) {
      const char c = format[pos];
      if (c != '{' && c != '}') {
        const size_t end = std::min(format.find_first_of("{}", pos), format.size());
        out += format.substr(pos, end - pos);
        pos = end;
      } else if (pos + 1 < format.size() && format[pos + 1] == c) {
        out += c;
        pos += 2;
      } else if (c == '}') {
        throw TemplateError("single '}' encountered in format string");
      } else {
        const size_t end = field_end(format, pos + 1);
        const std::string text = field(format.substr(pos + 1, end - pos - 1), nesting);
        runtime_.budget().bytes(text.size());
        out += text;
        pos = end + 1;
      }
    }
    return out;
  }

 private:
  static size_t field_end(std::string_view format, size_t pos) {
    int open = 1;
    bool in_index = false;
    for (; pos < format.size(); ++pos) {
      if (format[pos] == '[') in_index = true;
      if (format[pos] == ']') in_index = false;
      if (in_index) continue;
      if (format[pos] == '{') ++open;
      if (format[pos] == '}' && --open == 0) return pos;
    }
    throw TemplateError("expected '}' before end of string");
  }

  std::string field(std::string_view text, int nesting) {
    std::string_view spec;
    char conversion = 0;
    size_t end = 0;
    bool in_index = false;
    while (end < text.size() && (in_index || (text[end] != '!' && text[end] != ':'))) {
      if (text[end] == '[') in_index = true;
      if (text[end] == ']') in_index = false;
      ++end;
    }
    const std::string_view name = text.substr(0, end);
    if (end < text.size() && text[end] == '!') {
      if (end + 1 >= text.size()) throw TemplateError("unmatched '{' in format spec");
      conversion = text[end + 1];
      end += 2;
      if (end < text.size() && text[end] != ':')
        throw TemplateError("expected ':' after conversion specifier");
    }
    if (end < text.size()) spec = text.substr(end + 1);
    Value value = lookup(name);
    if (conversion == 's') {
      value = runtime_.make_string(runtime_.text_of(value));
    } else if (conversion == 'r') {
      value = runtime_.make_string(repr(runtime_.budget(), value));
    } else if (conversion != 0) {
      throw TemplateError("unknown conversion specifier in format string");
    }
    return format_spec(runtime_.budget(), value, run(spec, nesting + 1));
  }

  // "0", "name", "", with .attribute and [index] behind.
  Value lookup(std::string_view name) {
    size_t pos = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, pos));
    while (pos < name.size()) {
      if (name[pos] == '.') {
        const size_t end = std::min(name.find_first_of(".[", pos + 1), name.size());
        if (end == pos + 1) throw TemplateError("empty attribute in format string");
        value = get_attribute(runtime_, value, name.substr(pos + 1, end - pos - 1));
        pos = end;
      } else if (name[pos] == '[') {
        const size_t end = name.find(']', pos);
        if (end == std::string_view::npos) throw TemplateError("missing ']' in format string");
        const std::string_view key = name.substr(pos + 1, end - pos - 1);
        if (key.empty()) throw TemplateError("empty attribute in format string");
        int64_t index = 0;
        value = get_item(runtime_, value,
                         is_number(key, index) ? Value::integer(index) : Value::string(std::string(key)));
        pos = end + 1;
      } else {
        throw TemplateError("only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  static bool is_number(std::string_view text, int64_t& out) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
    return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc();
  }

  Value first(std::string_view name) {
    int64_t index = 0;
    const bool automatic = name.empty();
    if (automatic || is_number(name, index)) {
      if ((automatic && manual_) || (!automatic && next_ > 0)) {
        throw TemplateError("cannot switch between manual and automatic field numbering");
      }
      if (automatic) {
        index = next_++;
      } else {
        manual_ = true;
      }
      if (index >= static_cast<int64_t>(args_.positional.size()))
        throw TemplateError("format index out of range");
      return args_.positional[static_cast<size_t>(index)];
    }
    for (const auto& [key, value] : args_.keyword) {
      if (key == name) return value;
    }
    throw TemplateError(fmt::format("no argument '{}' for the format string", name));
  }

  Runtime& runtime_;
  const Args args_;
  int64_t next_ = 0;
  bool manual_ = false;
};

}  // namespace

Value format_braces(Runtime& runtime, const Value& format, Args args) {
  std::string text = BraceFormatter(runtime, std::move(args)).run(format.text(), 0);
  return runtime.make_string(std::move(text), format.string_object().markup);
}

}  // namespace qwick::jinja
