// Operations on text that string methods and filters share.
#include "text/jinja/text_ops.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/jinja/unicode.h"

namespace qwick::jinja {

std::string replace_text(Budget& budget, std::string_view text, std::string_view old, std::string_view with,
                         int64_t count) {
  std::string out;
  size_t pos = 0;
  budget.bytes(text.size());
  if (old.empty()) {
    // Python puts the replacement before every character and at the end.
    while (count != 0) {
      budget.bytes(with.size());
      out += with;
      if (count > 0) --count;
      if (pos >= text.size()) return out;
      append_char(out, next_char(text, pos));
    }
    return out.append(text.substr(pos));
  }
  while (count != 0) {
    const size_t found = text.find(old, pos);
    if (found == std::string_view::npos) break;
    budget.bytes(with.size());
    out += text.substr(pos, found - pos);
    out += with;
    pos = found + old.size();
    if (count > 0) --count;
  }
  return out.append(text.substr(pos));
}

std::string_view strip_chars(std::string_view text, const Value* chars, Side side) {
  if (chars == nullptr) {
    if (side == Side::kLeft) return strip_left(text);
    return side == Side::kRight ? strip_right(text) : strip(text);
  }
  const std::string_view set = chars->text();
  const auto in_set = [&](std::string_view c) { return set.find(c) != std::string_view::npos; };
  if (side != Side::kRight) {
    while (!text.empty()) {
      size_t next = 0;
      next_char(text, next);
      if (!in_set(text.substr(0, next))) break;
      text.remove_prefix(next);
    }
  }
  if (side != Side::kLeft) {
    while (!text.empty()) {
      size_t begin = text.size();
      previous_char(text, begin);
      if (!in_set(text.substr(begin))) break;
      text = text.substr(0, begin);
    }
  }
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    const size_t end = pos;
    const char32_t c = next_char(text, pos);
    if (!is_line_break(c)) continue;
    if (c == '\r' && pos < text.size() && text[pos] == '\n') ++pos;
    lines.push_back(text.substr(begin, (keep_ends ? pos : end) - begin));
    begin = pos;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string pad_text(Budget& budget, std::string_view text, int64_t width, std::string_view fill,
                     Align align) {
  const auto length = static_cast<int64_t>(count_chars(text));
  if (width <= length) return std::string(text);
  const int64_t padding = width - length;
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(padding), fill.size(), &bytes))
    throw TemplateError("width too large");
  budget.bytes(text.size());
  budget.bytes(bytes);
  int64_t left = align == Align::kRight ? padding : 0;
  // Python's str.center puts the odd one left when the width is odd.
  if (align == Align::kCenter) left = padding / 2 + (padding & width & 1);
  std::string out;
  out.reserve(text.size() + bytes);
  for (int64_t i = 0; i < left; ++i) out += fill;
  out += text;
  for (int64_t i = left; i < padding; ++i) out += fill;
  return out;
}

namespace {

// Removes single underscores between digits; false where they stand elsewhere.
bool drop_underscores(std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto is_digit = [&](size_t at) {
      return at < text.size() && isxdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) return false;
  }
  text = std::move(out);
  return true;
}

}  // namespace

bool parse_integer(std::string_view text, int base, int64_t& out) {
  if (base != 0 && (base < 2 || base > 36)) return false;
  std::string digits(strip(text));
  bool negative = false;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) {
    negative = digits[0] == '-';
    digits.erase(0, 1);
  }
  const char kind = digits.size() > 1 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : ' ';
  const int prefixed = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
  if (prefixed != 0 && (base == prefixed || base == 0)) {
    base = prefixed;
    digits.erase(0, 2);
    if (!digits.empty() && digits[0] == '_') digits.erase(0, 1);
  } else if (base == 0) {
    base = 10;
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of("0_") != std::string::npos)
      return false;
  }
  if (digits.empty() || !drop_underscores(digits)) return false;
  if (negative) digits.insert(0, 1, '-');
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, out, base);
  if (result.ptr == end && result.ec == std::errc::result_out_of_range)
    throw TemplateError("integer beyond 64 bits");
  return result.ptr == end && result.ec == std::errc();
}

bool parse_double(std::string_view text, double& out) {
  std::string digits(strip(text));
  bool negative = false;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) {
    negative = digits[0] == '-';
    digits.erase(0, 1);
  }
  const std::string name = to_lower(digits);
  if (name == "inf" || name == "infinity" || name == "nan") {
    out = name == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
    if (!drop_underscores(digits)) return false;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, out);
    if (result.ptr != end) return false;
    if (result.ec == std::errc::result_out_of_range) out = std::strtod(digits.c_str(), nullptr);
  }
  if (negative) out = -out;
  return true;
}

}  // namespace qwick::jinja
