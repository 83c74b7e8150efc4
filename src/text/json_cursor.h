// Reads JSON front to back without building a tree, for tokenizer.json, whose vocabulary and merges
// are megabytes of short strings. Everything else in a file goes through base/json.h. Used by
// tokenizer_json.cc. Throws Error kInvalidFile with the source and the byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qwick {

class JsonCursor {
 public:
  // Both must outlive the cursor. base: what is added to offsets in messages.
  JsonCursor(std::string_view text, std::string_view source, size_t base = 0)
      : text_(text), source_(source), base_(base) {}

  // The next character that is not white space, '\0' at the end.
  char peek();
  void expect(char c);
  // Whether another element follows in an array or object that ends with `close`; first: whether
  // none was read yet. Reads the comma or the bracket.
  bool more(char close, bool first);
  void expect_end();

  // A string; scratch holds it where it has escapes. Valid until the next call.
  std::string_view string(std::string& scratch);
  // A whole number from 0 to INT32_MAX.
  int32_t whole_number();
  // Any value, as the text that it takes up: brackets match, more is not checked.
  std::string_view skip();

  size_t offset() const { return base_ + pos_; }

 private:
  [[noreturn]] void fail_here(std::string_view what) const;
  void skip_string();
  void unescape(std::string& out);
  uint32_t hex4();

  std::string_view text_;
  std::string_view source_;
  size_t base_;
  size_t pos_ = 0;
};

}  // namespace qwick
