// str % values, str.format() and format specifications.
#include "text/jinja/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "text/jinja/attributes.h"
#include "text/jinja/runtime.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxPrecision = 1000;

struct Spec {
  std::string fill = " ";
  char align = 0;  // '<', '>', '^', '='
  char sign = '-';
  bool alternate = false;
  int64_t width = 0;
  char grouping = 0;
  int64_t precision = -1;
  char type = 0;
};

// Reads digits; `fallback` where there are none.
int64_t read_number(std::string_view text, size_t& pos, int64_t fallback, int64_t most) {
  const size_t begin = pos;
  int64_t value = 0;
  while (pos < text.size() && text[pos] >= '0' && text[pos] <= '9') {
    value = value * 10 + (text[pos++] - '0');
    if (value > most) throw TemplateError("width or precision too large");
  }
  return pos == begin ? fallback : value;
}

std::string group_digits(const std::string& digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string print_double(const char* format, int64_t precision, double x) {
  std::string out(static_cast<size_t>(precision) + 340, '\0');
  const int size = std::snprintf(out.data(), out.size(), format, static_cast<int>(precision), x);
  out.resize(static_cast<size_t>(std::max(size, 0)));
  return out;
}

// The magnitude of a finite or infinite float, without sign.
std::string double_digits(double x, const Spec& spec) {
  const double magnitude = std::abs(x);
  const bool upper = spec.type == 'F' || spec.type == 'E' || spec.type == 'G';
  if (!std::isfinite(x)) {
    std::string name = std::isnan(x) ? "nan" : "inf";
    return upper ? to_upper(name) : name;
  }
  const int64_t precision = spec.precision < 0 ? 6 : spec.precision;
  switch (spec.type) {
    case 'f':
    case 'F':
      return print_double(spec.alternate ? "%#.*f" : "%.*f", precision, magnitude);
    case '%':
      return print_double("%.*f", precision, magnitude * 100) + "%";
    case 'e':
      return print_double("%.*e", precision, magnitude);
    case 'E':
      return print_double("%.*E", precision, magnitude);
    case 'g':
      return print_double(spec.alternate ? "%#.*g" : "%.*g", precision, magnitude);
    case 'G':
      return print_double("%.*G", precision, magnitude);
    default:
      break;
  }
  if (spec.precision < 0) return format_double(magnitude);
  // Like 'g', but with a digit behind the point; the exponent comes one digit earlier.
  std::string text = print_double("%.*g", std::max<int64_t>(precision, 1), magnitude);
  if (text.find_first_of(".e") != std::string::npos) return text;
  if (static_cast<int64_t>(text.size()) < std::max<int64_t>(precision, 1)) return text + ".0";
  text = print_double("%.*e", std::max<int64_t>(precision - 1, 0), magnitude);
  const size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return mantissa + text.substr(e);
}

std::string integer_digits(int64_t x, const Spec& spec, std::string& prefix) {
  const uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  switch (spec.type) {
    case 'x':
      if (spec.alternate) prefix = "0x";
      return fmt::format("{:x}", magnitude);
    case 'X':
      if (spec.alternate) prefix = "0X";
      return fmt::format("{:X}", magnitude);
    case 'o':
      if (spec.alternate) prefix = "0o";
      return fmt::format("{:o}", magnitude);
    case 'b':
      if (spec.alternate) prefix = "0b";
      return fmt::format("{:b}", magnitude);
    default:
      return fmt::format("{}", magnitude);
  }
}

std::string sign_text(bool negative, const Spec& spec) {
  if (negative) return {'-'};
  return spec.sign == '-' ? std::string() : std::string{spec.sign};
}

std::string assemble(Budget& budget, const std::string& sign, const std::string& body, const Spec& spec) {
  if (spec.align != '=') {
    const Align align = spec.align == '<' ? Align::kLeft : spec.align == '^' ? Align::kCenter : Align::kRight;
    // Unlike str.center, format() puts the odd one right.
    if (align == Align::kCenter) {
      const std::string text = sign + body;
      const auto length = static_cast<int64_t>(count_chars(text));
      const int64_t left = std::max<int64_t>(spec.width - length, 0) / 2;
      return pad_text(budget, pad_text(budget, text, length + left, spec.fill, Align::kRight), spec.width,
                      spec.fill, Align::kLeft);
    }
    return pad_text(budget, sign + body, spec.width, spec.fill, align);
  }
  const auto width = spec.width - static_cast<int64_t>(sign.size());
  return sign + pad_text(budget, body, width, spec.fill, Align::kRight);
}

std::string format_number(Budget& budget, const Value& value, Spec spec) {
  const bool as_double =
      value.is(Type::kFloat) || std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  const bool negative =
      as_double ? std::signbit(value.as_double()) && !std::isnan(value.as_double()) : value.as_int() < 0;
  std::string sign = sign_text(negative, spec);
  std::string body;
  if (as_double) {
    body = double_digits(value.as_double(), spec);
  } else {
    std::string prefix;
    body = integer_digits(value.as_int(), spec, prefix);
    sign += prefix;
  }
  if (spec.grouping != 0) {
    const bool decimal = spec.type != 'x' && spec.type != 'X' && spec.type != 'o' && spec.type != 'b';
    const size_t end = decimal ? std::min(body.find_first_not_of("0123456789"), body.size()) : body.size();
    body = group_digits(body.substr(0, end), spec.grouping, decimal ? 3 : 4) + body.substr(end);
  }
  if (spec.align == 0) spec.align = '>';
  return assemble(budget, sign, body, spec);
}

Spec parse_spec(std::string_view text) {
  Spec spec;
  size_t pos = 0;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  size_t behind_fill = 0;
  if (!text.empty()) next_char(text, behind_fill);
  if (behind_fill > 0 && behind_fill < text.size() && is_align(text[behind_fill])) {
    spec.fill = text.substr(0, behind_fill);
    spec.align = text[behind_fill];
    pos = behind_fill + 1;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    pos = 1;
  }
  const auto take = [&](std::string_view set) {
    return pos < text.size() && set.find(text[pos]) != std::string_view::npos ? text[pos++] : '\0';
  };
  if (const char sign = take("+- "); sign != 0) spec.sign = sign;
  spec.alternate = take("#") != 0;
  if (take("0") != 0 && spec.align == 0) {
    spec.fill = '0';
    spec.align = '=';
  }
  spec.width = read_number(text, pos, 0, kMaxWidth);
  spec.grouping = take(",_");
  if (take(".") != 0) {
    spec.precision = read_number(text, pos, -1, kMaxPrecision);
    if (spec.precision < 0) throw TemplateError("format specifier missing precision");
  }
  if (pos < text.size()) spec.type = text[pos++];
  if (pos != text.size()) throw TemplateError("invalid format specifier");
  return spec;
}

// The values behind the conversions of a % format.
class PercentArguments {
 public:
  explicit PercentArguments(const Value& arguments) : arguments_(arguments) {}

  const Value& next() {
    if (!arguments_.is(Type::kTuple)) {
      if (used_++ > 0) throw TemplateError("not enough arguments for format string");
      return arguments_;
    }
    if (used_ >= arguments_.items().size()) throw TemplateError("not enough arguments for format string");
    return arguments_.items()[used_++];
  }
  const Value& named(std::string_view name) {
    if (!arguments_.is(Type::kDict)) throw TemplateError("format requires a mapping");
    mapping_ = true;
    const Value* found = arguments_.dict().find(name);
    if (found == nullptr) throw TemplateError(fmt::format("no value for '{}' in the mapping", name));
    return *found;
  }
  void check_all_used() const {
    // What could be a mapping, by having subscripts, need not be used.
    const bool subscripted = arguments_.is(Type::kDict) || arguments_.is(Type::kList) ||
                             arguments_.is(Type::kRange) || arguments_.is_undefined();
    if (mapping_ || subscripted) return;
    const size_t given = arguments_.is(Type::kTuple) ? arguments_.items().size() : 1;
    if (used_ < given) throw TemplateError("not all arguments converted during string formatting");
  }

 private:
  const Value& arguments_;
  size_t used_ = 0;
  bool mapping_ = false;
};

std::string percent_integer(Budget& budget, const Value& value, Spec spec) {
  if (!value.is_number() || (value.is(Type::kFloat) && spec.type != 'd')) {
    throw TemplateError(
        fmt::format("%{} format: an integer is required, not {}", spec.type, type_name(value)));
  }
  Value whole = value;
  if (value.is(Type::kFloat)) {
    if (!(std::abs(value.as_double()) < 0x1p63))
      throw TemplateError("cannot convert the float to an integer");
    whole = Value::integer(static_cast<int64_t>(value.as_double()));
  }
  std::string prefix;
  std::string digits = integer_digits(whole.as_int(), spec, prefix);
  digits = pad_text(budget, digits, spec.precision, "0", Align::kRight);
  const std::string sign = sign_text(whole.as_int() < 0, spec);
  return assemble(budget, sign + prefix, digits, spec);
}

std::string percent_value(Budget& budget, const Value& value, Spec spec) {
  switch (spec.type) {
    case 's':
    case 'r':
    case 'a': {
      std::string text = spec.type == 's' ? to_text(budget, value) : repr(budget, value);
      if (spec.precision >= 0) text.resize(char_offset(text, static_cast<size_t>(spec.precision)));
      if (spec.align == '=') spec.align = '>';
      spec.fill = ' ';
      return assemble(budget, "", text, spec);
    }
    case 'd':
    case 'i':
    case 'u':
      spec.type = 'd';
      return percent_integer(budget, value, spec);
    case 'x':
    case 'X':
    case 'o':
      return percent_integer(budget, value, spec);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!value.is_number())
        throw TemplateError(fmt::format("must be real number, not {}", type_name(value)));
      return format_number(budget, value, spec);
    case 'c':
      if (value.is_string() && value.string_object().length == 1)
        return assemble(budget, "", value.text(), spec);
      if (value.is_integral() && value.as_int() >= 0 && value.as_int() < 0xD800) {
        std::string text;
        append_char(text, static_cast<char32_t>(value.as_int()));
        return assemble(budget, "", text, spec);
      }
      throw TemplateError("%c requires an int or a character");
    default:
      throw TemplateError(fmt::format("unsupported format character '{}'", spec.type));
  }
}

// One conversion behind a '%'.
std::string percent_conversion(Budget& budget, std::string_view format, size_t& pos,
                               PercentArguments& arguments) {
  const Value* named = nullptr;
  if (pos < format.size() && format[pos] == '(') {
    const size_t close = format.find(')', pos);
    if (close == std::string_view::npos) throw TemplateError("incomplete format key");
    named = &arguments.named(format.substr(pos + 1, close - pos - 1));
    pos = close + 1;
  }
  Spec spec;
  bool zero = false;
  for (; pos < format.size() && std::string_view("-+ #0").find(format[pos]) != std::string_view::npos;
       ++pos) {
    switch (format[pos]) {
      case '-':
        spec.align = '<';
        break;
      case '+':
        spec.sign = '+';
        break;
      case ' ':
        if (spec.sign != '+') spec.sign = ' ';
        break;
      case '#':
        spec.alternate = true;
        break;
      default:
        zero = true;
    }
  }
  const auto number = [&](int64_t fallback, int64_t most) {
    if (pos >= format.size() || format[pos] != '*') return read_number(format, pos, fallback, most);
    ++pos;
    return std::clamp(checked_integer(arguments.next(), "* wants int"), -most, most);
  };
  spec.width = number(0, kMaxWidth);
  if (spec.width < 0) {
    spec.align = '<';
    spec.width = -spec.width;
  }
  if (pos < format.size() && format[pos] == '.') {
    ++pos;
    spec.precision = std::max<int64_t>(number(0, kMaxPrecision), 0);
  }
  while (pos < format.size() && (format[pos] == 'l' || format[pos] == 'h' || format[pos] == 'L')) ++pos;
  if (pos >= format.size()) throw TemplateError("incomplete format");
  spec.type = format[pos++];
  if (spec.type == '%') return {'%'};
  if (zero && spec.align != '<') {
    spec.align = '=';
    spec.fill = '0';
  } else if (spec.align == 0) {
    spec.align = '>';
  }
  return percent_value(budget, named != nullptr ? *named : arguments.next(), spec);
}

}  // namespace

Value format_percent(Budget& budget, const Value& format, const Value& arguments) {
  const std::string_view text = format.text();
  PercentArguments values(arguments);
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    if (text[pos] != '%') {
      const size_t end = std::min(text.find('%', pos), text.size());
      out += text.substr(pos, end - pos);
      pos = end;
      continue;
    }
    const std::string more = percent_conversion(budget, text, ++pos, values);
    budget.bytes(more.size());
    out += more;
  }
  values.check_all_used();
  budget.bytes(text.size());
  return Value::string(std::move(out), format.string_object().markup);
}

std::string format_spec(Budget& budget, const Value& value, std::string_view text) {
  if (text.empty()) return to_text(budget, value);
  Spec spec = parse_spec(text);
  if (value.is_string()) {
    if (spec.type != 0 && spec.type != 's') throw TemplateError("unknown format code for a string");
    if (spec.align == '=' && spec.fill != "0")
      throw TemplateError("'=' alignment not allowed in string format specifier");
    if (spec.align == 0 || spec.align == '=') spec.align = '<';
    std::string body = value.text();
    if (spec.precision >= 0) body.resize(char_offset(body, static_cast<size_t>(spec.precision)));
    return assemble(budget, "", body, spec);
  }
  if (value.is_number()) {
    const std::string_view known = value.is(Type::kFloat) ? "eEfFgG%" : "eEfFgG%dxXob";
    if (spec.type != 0 && known.find(spec.type) == std::string_view::npos) {
      throw TemplateError(fmt::format("unknown format code '{}' for a number", spec.type));
    }
    if (value.is_integral() && spec.precision >= 0 &&
        std::string_view("eEfFgG%").find(spec.type) == std::string_view::npos) {
      throw TemplateError("precision not allowed in integer format specifier");
    }
    return format_number(budget, value, spec);
  }
  throw TemplateError(fmt::format("unsupported format string passed to {}.__format__", type_name(value)));
}

}  // namespace qwick::jinja
