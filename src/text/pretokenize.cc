// The scanners. Each alternative of the regular expression is tried in its order; a match is taken
// with the greed and the backtracking that a regular expression engine would show.
#include "text/pretokenize.h"

#include "text/unicode.h"

namespace qwick {
namespace {

constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr uint8_t kLetterNumberSpace = kLetter | kNumber | kSpace;

// Reads characters with their class. What is in `stop` counts as the end of the text, which is how a
// split that was made before looks to the regular expression.
class Scanner {
 public:
  Scanner(std::string_view text, uint8_t stop) : text_(text), table_(CharTable::get()), stop_(stop) {}

  struct Item {
    uint32_t size;  // 0 at the end
    uint8_t flags;
  };

  Item at(size_t pos) const {
    if (pos >= text_.size()) return {0, 0};
    const auto byte = static_cast<unsigned char>(text_[pos]);
    Item item;
    if (byte < 0x80) {
      item = {1, table_.ascii_flags(byte)};
    } else {
      const Char c = unicode_detail::decode_multibyte(text_, pos);
      item = {c.size, table_.flags(c.code_point)};
    }
    return (item.flags & stop_) == 0 ? item : Item{0, 0};
  }

  // The end of the run of characters that have (or, for skip_other, lack) any of the flags.
  size_t skip(size_t pos, uint8_t flags) const {
    for (Item item = at(pos); item.size != 0 && (item.flags & flags) != 0; item = at(pos)) pos += item.size;
    return pos;
  }
  size_t skip_other(size_t pos) const {
    for (Item item = at(pos); item.size != 0 && (item.flags & kLetterNumberSpace) == 0; item = at(pos)) {
      pos += item.size;
    }
    return pos;
  }
  bool is_line_end(size_t pos) const {
    return pos < text_.size() && (text_[pos] == '\r' || text_[pos] == '\n');
  }

  // \s+(?!\S)|\s+ at a space: a run that something follows leaves its last character to it, unless
  // that is the whole run.
  size_t skip_spaces(size_t pos) const {
    size_t last = pos;
    size_t end = pos;
    for (Item item = at(end); item.size != 0 && (item.flags & kSpace) != 0; item = at(end)) {
      last = end;
      end += item.size;
    }
    return at(end).size == 0 || last == pos ? end : last;
  }

  // 's|'t|'re|'ve|'m|'ll|'d at pos: its end, or 0.
  size_t contraction(size_t pos, bool ignore_case) const {
    const auto letter = [&](size_t i) {
      const char c = i < text_.size() ? text_[i] : '\0';
      return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    const char first = letter(pos + 1);
    const char second = letter(pos + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return pos + 2;
    if ((first == 'r' || first == 'v') && second == 'e') return pos + 3;
    if (first == 'l' && second == 'l') return pos + 3;
    // The one other character that folds to one of these letters: U+017F, the long s.
    if (ignore_case && text_.substr(pos + 1, 2) == "\xC5\xBF") return pos + 3;
    return 0;
  }

 private:
  std::string_view text_;
  const CharTable& table_;
  uint8_t stop_;
};

size_t next_gpt2(std::string_view text, size_t pos, uint8_t stop) {
  const Scanner scan(text, stop);
  if (text[pos] == '\'') {
    if (const size_t end = scan.contraction(pos, false); end != 0) return end;
  }
  const size_t start = text[pos] == ' ' ? pos + 1 : pos;
  const Scanner::Item item = scan.at(start);
  if (item.size != 0) {
    if (item.flags & kLetter) return scan.skip(start, kLetter);
    if (item.flags & kNumber) return scan.skip(start, kNumber);
    if ((item.flags & kSpace) == 0) return scan.skip_other(start);
  }
  return scan.skip_spaces(pos);
}

size_t next_smollm(std::string_view text, size_t pos) {
  const Char c = char_at(text, pos);
  if (CharTable::get().flags(c.code_point) & kDigitSplit) return pos + c.size;
  return next_gpt2(text, pos, kDigitSplit);
}

size_t next_qwen2(std::string_view text, size_t pos, int max_digits) {
  const Scanner scan(text, 0);
  const char byte = text[pos];
  if (byte == '\'') {
    if (const size_t end = scan.contraction(pos, true); end != 0) return end;
  }
  const Scanner::Item item = scan.at(pos);
  if (item.flags & kLetter) return scan.skip(pos + item.size, kLetter);
  if (item.flags & kNumber) {
    for (Scanner::Item digit = item; (digit.flags & kNumber) != 0 && max_digits > 0; --max_digits) {
      pos += digit.size;
      digit = scan.at(pos);
    }
    return pos;
  }
  const size_t after = pos + item.size;
  const Scanner::Item next = scan.at(after);
  if ((next.flags & kLetter) && !scan.is_line_end(pos)) return scan.skip(after, kLetter);

  const bool other = (item.flags & kSpace) == 0;
  if (other || (byte == ' ' && next.size != 0 && (next.flags & kLetterNumberSpace) == 0)) {
    size_t end = scan.skip_other(after);
    while (scan.is_line_end(end)) ++end;
    return end;
  }
  // \s*[\r\n]+ : up to the last line end of the run of spaces.
  size_t after_line_end = 0;
  size_t end = pos;
  for (Scanner::Item space = item; space.size != 0 && (space.flags & kSpace) != 0; space = scan.at(end)) {
    if (scan.is_line_end(end)) after_line_end = end + 1;
    end += space.size;
  }
  return after_line_end != 0 ? after_line_end : scan.skip_spaces(pos);
}

}  // namespace

std::string_view pre_tokenizer_name(PreTokenizer kind) {
  switch (kind) {
    case PreTokenizer::kGpt2:
      return "gpt-2";
    case PreTokenizer::kQwen2:
      return "qwen2";
    case PreTokenizer::kLlama3:
      return "llama3";
    case PreTokenizer::kSmolLm:
      return "smollm";
  }
  return "";
}

std::optional<PreTokenizer> pre_tokenizer_of_regex(std::string_view pattern) {
  if (pattern == kGpt2Regex) return PreTokenizer::kGpt2;
  if (pattern == kQwen2Regex) return PreTokenizer::kQwen2;
  if (pattern == kLlama3Regex) return PreTokenizer::kLlama3;
  return std::nullopt;
}

size_t next_piece(PreTokenizer kind, std::string_view text, size_t pos) {
  switch (kind) {
    case PreTokenizer::kGpt2:
      return next_gpt2(text, pos, 0);
    case PreTokenizer::kQwen2:
      return next_qwen2(text, pos, 1);
    case PreTokenizer::kLlama3:
      return next_qwen2(text, pos, 3);
    case PreTokenizer::kSmolLm:
      return next_smollm(text, pos);
  }
  return text.size();
}

}  // namespace qwick
