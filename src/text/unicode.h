// UTF-8 and what the tokenizer knows about code points: classes for the pre-tokenizers and the
// canonical composition (NFC). The tables (unicode_data.h) are those of Hugging Face tokenizers, not
// the system's: ids may not depend on the Unicode version of a library. Immutable, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

// Flags of a code point, or'ed together.
inline constexpr uint8_t kLetter = 1;      // \p{L}
inline constexpr uint8_t kNumber = 2;      // \p{N}
inline constexpr uint8_t kSpace = 4;       // \s, White_Space
inline constexpr uint8_t kDigitSplit = 8;  // numeric for the pre-tokenizer "Digits" (newer than \p{N})
inline constexpr uint8_t kWord = 16;       // \w
inline constexpr uint8_t kNfcUnsafe = 32;  // NFC may change it, or may join it to what stands before

inline constexpr uint32_t kInvalidCodePoint = 0x110000;

// One character of a text. An ill-formed sequence is one character as well: code_point is
// kInvalidCodePoint, and the size that of the longest start of a well-formed sequence (or 1), which
// is what decoders replace by one U+FFFD.
struct Char {
  uint32_t code_point;
  uint32_t size;     // bytes, at least 1
  bool cut = false;  // ill-formed only because the text ends
};

namespace unicode_detail {
Char decode_multibyte(std::string_view text, size_t pos);
}

// pos < text.size().
inline Char char_at(std::string_view text, size_t pos) {
  const auto byte = static_cast<unsigned char>(text[pos]);
  if (byte < 0x80) return {byte, 1};
  return unicode_detail::decode_multibyte(text, pos);
}

void append_utf8(uint32_t code_point, std::string& out);
bool is_utf8(std::string_view text);

// Appends bytes to out with every ill-formed sequence as U+FFFD. With more_follows, a sequence that
// the end of bytes cuts is left alone. Returns how many bytes were read.
size_t append_lossy(std::string_view bytes, bool more_follows, std::string& out);

class CharTable {
 public:
  static const CharTable& get();

  // kInvalidCodePoint has no flags.
  uint8_t flags(uint32_t code_point) const {
    return blocks_[index_[code_point / kBlock] * size_t{kBlock} + code_point % kBlock];
  }
  uint8_t ascii_flags(unsigned char byte) const { return blocks_[byte]; }

 private:
  static constexpr uint32_t kBlock = 128;

  CharTable();

  std::array<uint16_t, kInvalidCodePoint / kBlock + 1> index_;
  std::vector<uint8_t> blocks_;  // block 0 is ASCII
};

// text in NFC: a view of text itself where nothing changes, else of buffer. Ill-formed sequences
// stay as they are and keep what is around them apart. O(n log n) whatever the text.
std::string_view normalize_nfc(std::string_view text, std::string& buffer);

}  // namespace qwick
