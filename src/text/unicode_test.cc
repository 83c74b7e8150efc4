// UTF-8, the class table and NFC. Oracle of NFC: utf8proc, for what Unicode 9 had already.
#include "text/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

namespace qwick {
namespace {

std::string utf8(std::initializer_list<uint32_t> code_points) {
  std::string out;
  for (const uint32_t c : code_points) append_utf8(c, out);
  return out;
}

std::string nfc(std::string_view text) {
  std::string buffer;
  return std::string(normalize_nfc(text, buffer));
}

std::string lossy(std::string_view bytes) {
  std::string out;
  EXPECT_EQ(append_lossy(bytes, false, out), bytes.size());
  return out;
}

TEST(Utf8, EveryCodePointRoundTrips) {
  for (uint32_t c = 0; c < kInvalidCodePoint; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::string text = utf8({c});
    const Char read = char_at(text, 0);
    ASSERT_EQ(read.code_point, c);
    ASSERT_EQ(read.size, text.size());
  }
}

TEST(Utf8, IllFormedSequencesAreCountedAsMaximalSubparts) {
  constexpr std::string_view kReplaced = "\xEF\xBF\xBD";
  const auto replaced = [&](size_t n) {
    std::string out;
    for (; n > 0; --n) out += kReplaced;
    return out;
  };
  EXPECT_EQ(lossy("\xFF"), replaced(1));
  EXPECT_EQ(lossy("\xC0\xAF"), replaced(2));          // overlong
  EXPECT_EQ(lossy("\xE0\x80\x80"), replaced(3));      // overlong
  EXPECT_EQ(lossy("\xED\xA0\x80"), replaced(3));      // surrogate
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), replaced(4));  // beyond U+10FFFF
  EXPECT_EQ(lossy("\xF0\x9F"), replaced(1));
  EXPECT_EQ(lossy("\xF0\x9F\x98z"), replaced(1) + "z");                    // cut after three bytes
  EXPECT_EQ(lossy("\xE4\xBD\xE4\xBD\xA0"), replaced(1) + "\xE4\xBD\xA0");  // cut by another character
  EXPECT_EQ(lossy(std::string_view("\0\x80\0", 3)), std::string("\0\xEF\xBF\xBD\0", 5));
}

TEST(Utf8, LossyWaitsForTheRestOfACharacter) {
  const std::string smile = "\xF0\x9F\x98\x80";
  for (size_t n = 1; n < smile.size(); ++n) {
    std::string out;
    EXPECT_EQ(append_lossy("ok" + smile.substr(0, n), true, out), 2u);
    EXPECT_EQ(out, "ok");
  }
  std::string out;
  EXPECT_EQ(append_lossy("\xF5", true, out), 1u);  // can't become a character
  EXPECT_EQ(out, "\xEF\xBF\xBD");
}

TEST(CharTable, KnowsTheClasses) {
  const CharTable& table = CharTable::get();
  EXPECT_EQ(table.flags('a'), kLetter | kWord);
  EXPECT_EQ(table.flags('7'), kNumber | kDigitSplit | kWord);
  EXPECT_EQ(table.flags('_'), kWord);
  EXPECT_EQ(table.flags('\n'), kSpace);
  EXPECT_EQ(table.flags('!'), 0);
  EXPECT_EQ(table.flags(0x4E2D), kLetter | kWord);
  EXPECT_EQ(table.flags(0x3000), kSpace);
  EXPECT_EQ(table.flags(0x0301), kWord | kNfcUnsafe);
  EXPECT_EQ(table.flags(0x216B), kNumber | kDigitSplit | kWord);  // a Roman numeral
  EXPECT_EQ(table.flags(0x200B), 0);                              // zero width, no white space
  EXPECT_EQ(table.flags(0x10FFFF), 0);
  EXPECT_EQ(table.flags(kInvalidCodePoint), 0);
}

TEST(Nfc, Composes) {
  EXPECT_EQ(nfc(utf8({'e', 0x301})), utf8({0xE9}));
  EXPECT_EQ(nfc(utf8({0xE9, 0x323})), utf8({0x1EB9, 0x301}));
  EXPECT_EQ(nfc(utf8({0x1100, 0x1161, 0x11A8})), utf8({0xAC01}));
  EXPECT_EQ(nfc(utf8({0xAC00, 0x11A8})), utf8({0xAC01}));
  EXPECT_EQ(nfc(utf8({0x212B})), utf8({0xC5}));          // Angstrom sign
  EXPECT_EQ(nfc(utf8({0x0958})), utf8({0x915, 0x93C}));  // excluded from composition
  EXPECT_EQ(nfc(utf8({0x301})), utf8({0x301}));
}

TEST(Nfc, LeavesWhatIsNotUtf8) {
  EXPECT_EQ(nfc("e\xFF\xCC\x81"), "e\xFF\xCC\x81");
  EXPECT_EQ(nfc("\x80\x65\xCC\x81\xE4\xBD"), "\x80\xC3\xA9\xE4\xBD");
}

TEST(Nfc, TextThatDoesNotChangeIsNotCopied) {
  const std::string text = utf8({'e', 0xE9, 0x4E2D, 0xAC01, 0x1F600});
  std::string buffer;
  EXPECT_EQ(normalize_nfc(text, buffer).data(), text.data());
}

TEST(Nfc, EqualsUtf8proc) {
  std::mt19937 random(7);
  // Ranges that have been stable since Unicode 9, rich in marks and composites. Without U+11A7, which
  // utf8proc 2.8 drops after a syllable.
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x20, 0x7E},       {0xC0, 0x24F},      {0x300, 0x36F},   {0x370, 0x3FF},   {0x591, 0x5C7},
      {0x64B, 0x65F},     {0x915, 0x95F},     {0x3041, 0x30FF}, {0x1100, 0x11A6}, {0x11A8, 0x11FF},
      {0x1E00, 0x1FFF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAD9}, {0x20D0, 0x20F0}, {0x2126, 0x212B},
      {0x1D15E, 0x1D1C0}, {0x2F800, 0x2FA1D}, {0x302A, 0x302F}, {0x3099, 0x309A}};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto n = random() % 12 + 1; n > 0; --n) {
      const auto& [low, high] = kRanges[random() % std::size(kRanges)];
      append_utf8(low + static_cast<uint32_t>(random()) % (high - low + 1), text);
    }
    utf8proc_uint8_t* expected = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
    ASSERT_NE(expected, nullptr);
    EXPECT_EQ(nfc(text), reinterpret_cast<const char*>(expected));
    EXPECT_EQ(nfc(nfc(text)), nfc(text));
    std::free(expected);  // NOLINT(bugprone-*): utf8proc gives memory from malloc
  }
}

TEST(Nfc, SortsALongRunOfMarks) {
  // Two alternating marks of different classes: each of the second kind moves before all of the first.
  std::string text = "x";
  std::string expected = "x";
  constexpr int kMarks = 100000;
  for (int i = 0; i < kMarks; ++i) text += utf8({0x301, 0x316});
  for (int i = 0; i < kMarks; ++i) expected += utf8({0x316});
  for (int i = 0; i < kMarks; ++i) expected += utf8({0x301});
  EXPECT_EQ(nfc(text), expected);
}

}  // namespace
}  // namespace qwick
