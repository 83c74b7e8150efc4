// Template source to tokens.
#include "text/jinja/lexer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

// All line breaks become "\n", and one at the very end is dropped.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name)
      : source_(normalize_newlines(source)), name_(name) {}

  std::vector<Token> run() {
    while (pos_ < source_.size()) lex_text();
    add(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail_here(const std::string& message) const {
    fail(ErrorCode::kUnsupported, "{}, line {}: {}", name_, line_, message);
  }

  std::string_view rest() const { return std::string_view(source_).substr(pos_); }
  bool at(std::string_view text) const { return rest().starts_with(text); }

  void add(TokenKind kind, std::string text = {}) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
  }

  void advance(size_t count) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(pos_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(pos_ + count), '\n'));
    pos_ += count;
  }

  void skip_space() { advance(rest().size() - strip_left(rest()).size()); }

  // What follows a tag whose closing bracket was just passed: `-` strips, plain tags drop one newline.
  void after_tag(char sign, bool trim) {
    if (sign == '-') {
      skip_space();
    } else if (sign != '+' && trim && at("\n")) {
      advance(1);
    }
  }

  // If a tag ends here, its sign ('-', '+' or ' ').
  std::optional<char> tag_end(std::string_view bracket, bool plus) const {
    if (at(bracket)) return ' ';
    if (rest().size() > bracket.size() && rest().substr(1).starts_with(bracket)) {
      if (rest()[0] == '-') return '-';
      if (rest()[0] == '+' && plus) return '+';
    }
    return std::nullopt;
  }

  void lex_text();
  void add_text(std::string_view text, char sign, bool lstrip, bool line_starting);
  size_t raw_begin_size() const;
  void lex_raw();
  void lex_comment();
  void lex_tag(std::string_view bracket, TokenKind end, bool is_block);
  bool lex_number();
  void lex_string();
  void lex_operator();
  std::string unescape(std::string_view text) const;
  char32_t escaped_char(std::string_view text, size_t& pos, size_t digits) const;

  const std::string source_;
  const std::string& name_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // does what was read last end with a newline?
  std::string brackets_;       // the closing ones that are due
  std::vector<Token> tokens_;
};

// Template text before a tag, with the white space dropped that the tag asks for.
void Lexer::add_text(std::string_view text, char sign, bool lstrip, bool line_starting) {
  std::string_view kept = text;
  if (sign == '-') {
    kept = strip_right(text);
  } else if (sign != '+' && lstrip) {
    const size_t newline = text.rfind('\n');
    const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if ((begin > 0 || line_starting) && strip(text.substr(begin)).empty()) kept = text.substr(0, begin);
  }
  if (!kept.empty()) add(TokenKind::kText, std::string(kept));
  advance(text.size());
}

// Size of "{% raw %}" if it stands here, else 0.
size_t Lexer::raw_begin_size() const {
  std::string_view text = rest();
  if (!text.starts_with("{%")) return 0;
  text.remove_prefix(2);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text = strip_left(text);
  if (!text.starts_with("raw")) return 0;
  text = strip_left(text.substr(3));
  if (text.starts_with("-%}")) {
    text = strip_left(text.substr(3));
  } else if (text.starts_with("%}")) {
    text.remove_prefix(2);
  } else {
    return 0;
  }
  return rest().size() - text.size();
}

void Lexer::lex_text() {
  size_t begin = pos_;
  while (true) {
    begin = source_.find('{', begin);
    if (begin == std::string::npos || begin + 1 >= source_.size()) {
      add(TokenKind::kText, std::string(rest()));
      advance(rest().size());
      return;
    }
    const char second = source_[begin + 1];
    if (second == '{' || second == '%' || second == '#') break;
    ++begin;
  }
  const char second = source_[begin + 1];
  char sign = begin + 2 < source_.size() ? source_[begin + 2] : ' ';
  if (sign != '-' && sign != '+') sign = ' ';
  add_text(rest().substr(0, begin - pos_), sign, second != '{', line_starting_);
  if (const size_t raw = raw_begin_size(); raw > 0) {
    line_starting_ = source_[pos_ + raw - 1] == '\n';
    advance(raw);
    lex_raw();
    return;
  }
  if (second != '#') add(second == '{' ? TokenKind::kPrintBegin : TokenKind::kTagBegin);
  advance(sign == ' ' ? 2 : 3);
  line_starting_ = false;
  if (second == '#') {
    lex_comment();
  } else if (second == '{') {
    lex_tag("}}", TokenKind::kPrintEnd, false);
  } else {
    lex_tag("%}", TokenKind::kTagEnd, true);
  }
}

void Lexer::lex_raw() {
  size_t end = pos_;
  while (true) {
    end = source_.find("{%", end);
    if (end == std::string::npos) fail_here("missing end of raw directive");
    std::string_view text = std::string_view(source_).substr(end + 2);
    char sign = ' ';
    if (text.starts_with('-') || text.starts_with('+')) {
      sign = text[0];
      text.remove_prefix(1);
    }
    text = strip_left(text);
    if (text.starts_with("endraw")) {
      text = strip_left(text.substr(6));
      const bool signed_end = text.starts_with("-%}") || text.starts_with("+%}");
      if (signed_end || text.starts_with("%}")) {
        add_text(rest().substr(0, end - pos_), sign, true, line_starting_);
        advance(source_.size() - text.size() - pos_ + (signed_end ? 3 : 2));
        after_tag(signed_end ? text[0] : ' ', true);
        line_starting_ = source_[pos_ - 1] == '\n';
        return;
      }
    }
    end += 2;
  }
}

void Lexer::lex_comment() {
  const size_t end = source_.find("#}", pos_);
  if (end == std::string::npos) fail_here("missing end of comment tag");
  const char sign =
      end > pos_ && (source_[end - 1] == '-' || source_[end - 1] == '+') ? source_[end - 1] : ' ';
  advance(end + 2 - pos_);
  after_tag(sign, true);
  line_starting_ = source_[pos_ - 1] == '\n';
}

void Lexer::lex_tag(std::string_view bracket, TokenKind end, bool is_block) {
  const int begin_line = line_;
  while (pos_ < source_.size()) {
    if (brackets_.empty()) {
      if (const auto sign = tag_end(bracket, is_block); sign.has_value()) {
        add(end);
        advance(*sign == ' ' ? 2 : 3);
        after_tag(*sign, is_block);
        line_starting_ = source_[pos_ - 1] == '\n';
        return;
      }
    }
    size_t next = pos_;
    const char32_t c = next_char(source_, next);
    if (is_space(c)) {
      skip_space();
    } else if (c >= '0' && c <= '9' && lex_number()) {
      continue;
    } else if (is_identifier_start(c)) {
      size_t stop = next;
      while (next < source_.size() && is_identifier_part(next_char(source_, next))) stop = next;
      add(TokenKind::kName, source_.substr(pos_, stop - pos_));
      advance(stop - pos_);
    } else if (c == '\'' || c == '"') {
      lex_string();
    } else {
      lex_operator();
    }
  }
  line_ = begin_line;
  fail_here(is_block ? "end of statement block expected" : "end of print statement expected");
}

// Digits with single underscores between them; the end of what matches.
size_t scan_digits(std::string_view text, size_t pos, bool (*is_base_digit)(char)) {
  while (pos < text.size()) {
    const size_t digit = text[pos] == '_' ? pos + 1 : pos;
    if (digit >= text.size() || !is_base_digit(text[digit])) break;
    pos = digit + 1;
  }
  return pos;
}

bool is_binary(char c) {
  return c == '0' || c == '1';
}
bool is_octal(char c) {
  return c >= '0' && c <= '7';
}
bool is_ten(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_ten(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The size of a float at the start, or 0: digits with a fraction, an exponent, or both.
size_t float_size(std::string_view text) {
  size_t pos = scan_digits(text, 0, is_ten);
  bool is_float = false;
  if (pos + 1 < text.size() && text[pos] == '.' && is_ten(text[pos + 1])) {
    pos = scan_digits(text, pos + 1, is_ten);
    is_float = true;
  }
  if (pos < text.size() && (text[pos] == 'e' || text[pos] == 'E')) {
    size_t exponent = pos + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && is_ten(text[exponent])) {
      pos = scan_digits(text, exponent, is_ten);
      is_float = true;
    }
  }
  return is_float ? pos : 0;
}

bool Lexer::lex_number() {
  const std::string_view text = rest();
  size_t size = pos_ > 0 && source_[pos_ - 1] == '.' ? 0 : float_size(text);
  const bool is_float = size > 0;
  int base = 10;
  if (!is_float) {
    const char kind = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
    const auto prefixed = [&](char lower, bool (*digit)(char), int with_base) {
      if ((kind | 0x20) != lower || kind == ' ') return;
      if (const size_t stop = scan_digits(text, 2, digit); stop > 2) {
        size = stop;
        base = with_base;
      }
    };
    prefixed('b', is_binary, 2);
    prefixed('o', is_octal, 8);
    prefixed('x', is_hex, 16);
    if (size == 0) {
      size = text[0] == '0' ? scan_digits(text, 1, [](char c) { return c == '0'; })
                            : scan_digits(text, 0, is_ten);
    }
  }
  std::string digits(text.substr(0, size));
  std::erase(digits, '_');
  add(is_float ? TokenKind::kFloat : TokenKind::kInteger, digits);
  const char* begin = digits.data() + (base == 10 ? 0 : 2);
  const char* end = digits.data() + digits.size();
  if (is_float) {
    std::from_chars(begin, end, tokens_.back().real);
  } else if (std::from_chars(begin, end, tokens_.back().integer, base).ec != std::errc()) {
    fail_here("integer " + digits + " does not fit into 64 bits");
  }
  advance(size);
  return true;
}

void Lexer::lex_string() {
  const char quote = source_[pos_];
  size_t end = pos_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size())
    fail_here(std::string("unexpected char ") + quote + ": a string that doesn't end");
  add(TokenKind::kString, unescape(std::string_view(source_).substr(pos_ + 1, end - pos_ - 1)));
  advance(end + 1 - pos_);
}

char32_t Lexer::escaped_char(std::string_view text, size_t& pos, size_t digits) const {
  uint32_t c = 0;
  if (text.size() - pos < digits) fail_here("truncated escape in a string");
  const char* end = text.data() + pos + digits;
  if (std::from_chars(text.data() + pos, end, c, 16).ptr != end) fail_here("truncated escape in a string");
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) fail_here("escape of no Unicode character in a string");
  pos += digits;
  return c;
}

// Python's "unicode-escape": unknown escapes stay as they are.
std::string Lexer::unescape(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    if (text[pos] != '\\') {
      out += text[pos++];
      continue;
    }
    ++pos;
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    const char c = text[pos];
    if (const size_t known = kLetters.find(c); known != std::string_view::npos) {
      out += kMeanings[known];
      ++pos;
    } else if (c == '\n') {
      ++pos;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      append_char(out, escaped_char(text, ++pos, c == 'x' ? 2 : c == 'u' ? 4 : 8));
    } else if (is_octal(c)) {
      uint32_t value = 0;
      for (int i = 0; i < 3 && pos < text.size() && is_octal(text[pos]); ++i) {
        value = value * 8 + static_cast<uint32_t>(text[pos++] - '0');
      }
      append_char(out, value);
    } else if (c == 'N') {
      fail_here("\\N{...} in a string is not supported");
    } else {
      // Jinja escapes what is not ASCII before it reads escapes, so "\é" comes out as "\xe9".
      const auto code = static_cast<uint32_t>(next_char(text, pos));
      out += '\\';
      if (code < 0x80) {
        out += static_cast<char>(code);
      } else if (code < 0x100) {
        out += fmt::format("x{:02x}", code);
      } else {
        out += code < 0x10000 ? fmt::format("u{:04x}", code) : fmt::format("U{:08x}", code);
      }
    }
  }
  return out;
}

void Lexer::lex_operator() {
  constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
  constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
  std::string text;
  for (const std::string_view two : kTwo) {
    if (at(two)) text = two;
  }
  const char c = source_[pos_];
  if (text.empty()) {
    if (kOne.find(c) == std::string_view::npos) {
      size_t end = pos_;
      next_char(source_, end);
      fail_here("unexpected char '" + source_.substr(pos_, end - pos_) + "'");
    }
    text = c;
  }
  if (c == '(') brackets_ += ')';
  if (c == '[') brackets_ += ']';
  if (c == '{') brackets_ += '}';
  if (c == ')' || c == ']' || c == '}') {
    if (brackets_.empty()) fail_here("unexpected '" + text + "'");
    if (brackets_.back() != c) fail_here("unexpected '" + text + "', expected '" + brackets_.back() + "'");
    brackets_.pop_back();
  }
  add(TokenKind::kOperator, text);
  advance(text.size());
}

}  // namespace

std::vector<Token> tokenize(std::string_view source, const std::string& name) {
  if (!is_valid_utf8(source)) fail(ErrorCode::kUnsupported, "{}: the template is not UTF-8", name);
  return Lexer(source, name).run();
}

}  // namespace qwick::jinja
