// The byte alphabet of GPT-2, both ways. See byte_alphabet.h.
#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/unicode.h"

namespace qwick {
namespace {

constexpr uint32_t kAlphabetEnd = 0x144;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

struct Alphabet {
  std::array<uint16_t, 256> chars{};
  std::array<int16_t, kAlphabetEnd> bytes{};  // -1: not of the alphabet
};

constexpr Alphabet kAlphabet = [] {
  Alphabet alphabet;
  for (int16_t& byte : alphabet.bytes) byte = -1;
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const uint16_t c = stands_for_itself(byte) ? byte : next++;
    alphabet.chars[byte] = c;
    alphabet.bytes[c] = static_cast<int16_t>(byte);
  }
  return alphabet;
}();

}  // namespace

bool append_alphabet_bytes(std::string_view token, std::string& out) {
  const size_t before = out.size();
  for (size_t pos = 0; pos < token.size(); ++pos) {
    // One byte of UTF-8, or two: the alphabet has nothing longer.
    uint32_t c = static_cast<unsigned char>(token[pos]);
    if (c >= 0x80) {
      const uint32_t next = pos + 1 < token.size() ? static_cast<unsigned char>(token[pos + 1]) : 0;
      c = c >= 0xC2 && c < 0xE0 && (next & 0xC0) == 0x80 ? (c & 0x1F) << 6 | (next & 0x3F) : kAlphabetEnd;
      ++pos;
    }
    const int16_t byte = c < kAlphabetEnd ? kAlphabet.bytes[c] : int16_t{-1};
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(byte));
  }
  return true;
}

std::string alphabet_char(unsigned char byte) {
  std::string out;
  append_utf8(kAlphabet.chars[byte], out);
  return out;
}

}  // namespace qwick
