// str() and repr() of values, and undefined values' messages.
#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

void append_repr(Budget& budget, std::string& out, const Value& value);

void append_items(Budget& budget, std::string& out, const Values& items) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out += ", ";
    first = false;
    append_repr(budget, out, item);
  }
}

void append_dict(Budget& budget, std::string& out, const DictObject& dict) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) out += ", ";
    first = false;
    append_repr(budget, out, key);
    out += ": ";
    append_repr(budget, out, value);
  }
  out += '}';
}

std::string range_repr(const RangeObject& range) {
  const int64_t stop = range.start + range.step * range.count;
  if (range.step == 1) return fmt::format("range({}, {})", range.start, stop);
  return fmt::format("range({}, {}, {})", range.start, stop, range.step);
}

void append_repr(Budget& budget, std::string& out, const Value& value) {
  budget.step();
  const size_t before = out.size();
  switch (value.type()) {
    case Type::kMissing:
    case Type::kUndefined:
      out += "Undefined";
      break;
    case Type::kNone:
      out += "None";
      break;
    case Type::kBool:
      out += value.as_int() != 0 ? "True" : "False";
      break;
    case Type::kInt:
      out += fmt::format("{}", value.as_int());
      break;
    case Type::kFloat:
      out += format_double(value.as_double());
      break;
    case Type::kString: {
      const std::string quoted = repr_string(value.text());
      out += value.string_object().markup ? "Markup(" + quoted + ")" : quoted;
      break;
    }
    case Type::kList:
      out += '[';
      append_items(budget, out, value.items());
      out += ']';
      return;
    case Type::kTuple:
      out += '(';
      append_items(budget, out, value.items());
      out += value.items().size() == 1 ? ",)" : ")";
      return;
    case Type::kDict:
      append_dict(budget, out, value.dict());
      return;
    case Type::kRange:
      out += range_repr(value.range());
      break;
    case Type::kView:
      out += fmt::format("{}([", type_name(value));
      append_items(budget, out, value.view().items);
      out += "])";
      return;
    case Type::kIterator:
      out += "<generator object>";
      break;
    case Type::kNamespace:
      out += "<Namespace>";
      break;
    case Type::kNative:
      out += value.native().repr();
      break;
  }
  budget.bytes(out.size() - before);
}

}  // namespace

std::string undefined_message(const Value& value) {
  const UndefinedObject& reason = value.undefined_object();
  if (!reason.hint.empty()) return reason.hint;
  Budget budget(10000, 1 << 20);
  const std::string name = repr(budget, reason.name);
  if (reason.owner == nullptr) return fmt::format("{} is undefined", name);
  const std::string owner =
      std::string_view(reason.owner) == "NoneType" ? "None" : fmt::format("{} object", reason.owner);
  if (!reason.name.is_string()) return fmt::format("{} has no element {}", owner, name);
  return fmt::format("'{}' has no attribute {}", owner, name);
}

std::string format_double(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::scientific).ptr;
  std::string_view text(digits, static_cast<size_t>(end - digits));
  const size_t e = text.find('e');
  const std::string_view power = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
  int exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    return fmt::format("{}e{}{:02}", text.substr(0, e), exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  char fixed[64];
  const auto fixed_end = std::to_chars(fixed, fixed + sizeof fixed, x, std::chars_format::fixed).ptr;
  std::string out(fixed, static_cast<size_t>(fixed_end - fixed));
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string repr_string(std::string_view text) {
  const bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = next_char(text, pos);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      append_char(out, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
    } else if (is_printable(c)) {
      append_char(out, c);
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
    }
  }
  out += quote;
  return out;
}

std::string repr(Budget& budget, const Value& value) {
  std::string out;
  append_repr(budget, out, value);
  return out;
}

std::string to_text(Budget& budget, const Value& value) {
  if (value.is_string()) return value.text();
  if (value.is_undefined()) return "";
  return repr(budget, value);
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace qwick::jinja
