// A forward reader of JSON. See json_cursor.h.
#include "text/json_cursor.h"

#include <bit>
#include <cstdint>

#include "base/error.h"
#include "base/json.h"
#include "base/numeric.h"
#include "text/unicode.h"

namespace qwick {
namespace {

// The top bit of each byte of `word` that is c, if c is there; the lowest bit set is always right.
uint64_t bytes_equal_to(char c, uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t difference = word ^ kOnes * static_cast<unsigned char>(c);
  return (difference - kOnes) & ~difference & kOnes << 7;
}

}  // namespace

void JsonCursor::fail_here(std::string_view what) const {
  invalid_file("{}: not valid JSON at byte {}: {}", source_, offset(), what);
}

char JsonCursor::peek() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return c;
    ++pos_;
  }
  return '\0';
}

void JsonCursor::expect(char c) {
  if (peek() != c || pos_ == text_.size()) fail_here(fmt::format("expected '{}'", c));
  ++pos_;
}

bool JsonCursor::more(char close, bool first) {
  if (peek() == close) {
    ++pos_;
    return false;
  }
  if (!first) expect(',');
  return true;
}

void JsonCursor::expect_end() {
  peek();
  if (pos_ != text_.size()) fail_here("expected the end");
}

std::string_view JsonCursor::string(std::string& scratch) {
  expect('"');
  const size_t begin = pos_;
  for (; pos_ < text_.size(); ++pos_) {
    const auto c = static_cast<unsigned char>(text_[pos_]);
    if (c == '"') return text_.substr(begin, pos_++ - begin);
    if (c < 0x20) fail_here("a control character in a string");
    if (c == '\\') {
      scratch.assign(text_, begin, pos_ - begin);
      unescape(scratch);
      return scratch;
    }
  }
  fail_here("a string without an end");
}

void JsonCursor::unescape(std::string& out) {
  while (pos_ < text_.size()) {
    const char c = text_[pos_++];
    if (c == '"') return;
    if (static_cast<unsigned char>(c) < 0x20) fail_here("a control character in a string");
    if (c != '\\') {
      out.push_back(c);
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char escape = pos_ < text_.size() ? text_[pos_++] : '\0';
    if (escape == 'u') {
      uint32_t code_point = hex4();
      if (code_point >= 0xD800 && code_point < 0xDC00 && text_.substr(pos_, 2) == "\\u") {
        pos_ += 2;
        const uint32_t low = hex4();
        if (low < 0xDC00 || low > 0xDFFF) fail_here("half a surrogate pair");
        code_point = 0x10000 + ((code_point - 0xD800) << 10 | (low - 0xDC00));
      }
      if (code_point >= 0xD800 && code_point < 0xE000) fail_here("half a surrogate pair");
      append_utf8(code_point, out);
    } else if (const size_t i = kEscapes.find(escape); i != std::string_view::npos && escape != '\0') {
      out.push_back(kMeanings[i]);
    } else {
      fail_here("an unknown escape in a string");
    }
  }
  fail_here("a string without an end");
}

uint32_t JsonCursor::hex4() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = pos_ < text_.size() ? text_[pos_++] : '\0';
    uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0');
    } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
      digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      fail_here("four hexadecimal digits expected after \\u");
    }
    value = value << 4 | digit;
  }
  return value;
}

int32_t JsonCursor::whole_number() {
  peek();
  const size_t begin = pos_;
  int64_t value = 0;
  for (; pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9'; ++pos_) {
    value = value * 10 + (text_[pos_] - '0');
    if (value > INT32_MAX) fail_here("a number too large");
  }
  const char next = pos_ < text_.size() ? text_[pos_] : '\0';
  if (pos_ == begin || next == '.' || next == 'e' || next == 'E') fail_here("expected a whole number");
  return static_cast<int32_t>(value);
}

void JsonCursor::skip_string() {
  ++pos_;
  while (pos_ < text_.size()) {
    // Eight characters at a time, up to the next that means something.
    if (text_.size() - pos_ >= sizeof(uint64_t)) {
      const auto word = load<uint64_t>(text_.data() + pos_);
      const uint64_t found = bytes_equal_to('"', word) | bytes_equal_to('\\', word);
      pos_ += found == 0 ? sizeof word : static_cast<size_t>(std::countr_zero(found)) / 8;
      if (found == 0) continue;
    }
    const char c = text_[pos_++];
    if (c == '"') return;
    if (c == '\\') ++pos_;
  }
  pos_ = text_.size();
  fail_here("a string without an end");
}

std::string_view JsonCursor::skip() {
  peek();
  const size_t begin = pos_;
  int depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '"') {
      skip_string();
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) fail_here(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
      ++pos_;
      continue;
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      --depth;
      ++pos_;
    } else if (depth == 0 && c == ',') {
      break;
    } else {
      ++pos_;
      continue;
    }
    if (depth == 0) break;
  }
  if (depth != 0) fail_here("an object or array without an end");
  if (pos_ == begin) fail_here("expected a value");
  return text_.substr(begin, pos_ - begin);
}

}  // namespace qwick
