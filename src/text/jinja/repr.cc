// str() and repr() of values, and undefined values' messages.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

// Namespaces can contain each other in a circle; nothing else can.
constexpr int kMaxNamespaces = 20;

class ReprWriter {
 public:
  explicit ReprWriter(Budget& budget) : budget_(budget) {}
  void write(const Value& value);
  std::string take() { return std::move(out_); }

 private:
  void write_items(const Values& items);
  void write_dict(const DictObject& dict);
  void write_namespace(const NamespaceObject& ns);
  std::string scalar(const Value& value) const;

  Budget& budget_;
  std::string out_;
  int namespaces_ = 0;
};

void ReprWriter::write_items(const Values& items) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out_ += ", ";
    first = false;
    write(item);
  }
}

void ReprWriter::write_dict(const DictObject& dict) {
  out_ += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) out_ += ", ";
    first = false;
    write(key);
    out_ += ": ";
    write(value);
  }
  out_ += '}';
}

void ReprWriter::write_namespace(const NamespaceObject& ns) {
  if (++namespaces_ > kMaxNamespaces) throw TemplateError("namespaces nested too deeply");
  out_ += "<Namespace {";
  bool first = true;
  for (const auto& [name, value] : ns.attributes) {
    if (!first) out_ += ", ";
    first = false;
    out_ += repr_string(name) + ": ";
    write(value);
  }
  out_ += "}>";
  --namespaces_;
}

std::string range_repr(const RangeObject& range) {
  if (range.step == 1) return fmt::format("range({}, {})", range.start, range.stop);
  return fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
}

std::string ReprWriter::scalar(const Value& value) const {
  switch (value.type()) {
    case Type::kNone:
      return "None";
    case Type::kBool:
      return value.as_int() != 0 ? "True" : "False";
    case Type::kInt:
      return fmt::format("{}", value.as_int());
    case Type::kFloat:
      return format_double(value.as_double());
    case Type::kString: {
      std::string quoted = repr_string(value.text());
      return value.string_object().markup ? fmt::format("Markup({})", quoted) : quoted;
    }
    case Type::kRange:
      return range_repr(value.range());
    case Type::kIterator:
      return "<generator object>";
    case Type::kNative:
      return value.native().repr();
    default:
      return "Undefined";
  }
}

void ReprWriter::write(const Value& value) {
  budget_.step();
  switch (value.type()) {
    case Type::kList:
      out_ += '[';
      write_items(value.items());
      out_ += ']';
      return;
    case Type::kTuple:
      out_ += '(';
      write_items(value.items());
      out_ += value.items().size() == 1 ? ",)" : ")";
      return;
    case Type::kDict:
      return write_dict(value.dict());
    case Type::kView:
      out_ += fmt::format("{}([", type_name(value));
      write_items(value.view().items);
      out_ += "])";
      return;
    case Type::kNamespace:
      return write_namespace(value.ns());
    default: {
      const std::string text = scalar(value);
      budget_.bytes(text.size());
      out_ += text;
    }
  }
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
  const bool double_quotes =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
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
  ReprWriter writer(budget);
  writer.write(value);
  return writer.take();
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
