// The scanners against PCRE2 running the regular expressions themselves. Code points that PCRE2's
// version of Unicode classes otherwise than ours (newer ones) are left out.
#include "text/pretokenize.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/unicode.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace qwick {
namespace {

constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

class Regex {
 public:
  explicit Regex(const char* pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                          &error, &offset, nullptr);
    match_ = pcre2_match_data_create_from_pattern(code_, nullptr);
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex() {
    pcre2_match_data_free(match_);
    pcre2_code_free(code_);
  }

  // The end of the match at pos, or 0.
  size_t match_at(std::string_view text, size_t pos) const {
    const int count = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), pos,
                                  PCRE2_ANCHORED, match_, nullptr);
    return count > 0 ? pcre2_get_ovector_pointer(match_)[1] : 0;
  }
  std::vector<std::string> split(std::string_view text) const {
    std::vector<std::string> pieces;
    for (size_t pos = 0; pos < text.size();) {
      const size_t end = match_at(text, pos);
      if (end <= pos) return {};
      pieces.emplace_back(text.substr(pos, end - pos));
      pos = end;
    }
    return pieces;
  }

 private:
  pcre2_code* code_ = nullptr;
  pcre2_match_data* match_ = nullptr;
};

std::vector<std::string> split(PreTokenizer kind, std::string_view text) {
  std::vector<std::string> pieces;
  for (size_t pos = 0; pos < text.size();) {
    const size_t end = next_piece(kind, text, pos);
    EXPECT_GT(end, pos);
    pieces.emplace_back(text.substr(pos, end - pos));
    pos = end;
  }
  return pieces;
}

// Every digit apart, and what is between by GPT-2's expression.
std::vector<std::string> split_smollm(const Regex& gpt2, std::string_view text) {
  std::vector<std::string> pieces;
  std::string rest;
  const auto flush = [&] {
    for (std::string& piece : gpt2.split(rest)) pieces.push_back(std::move(piece));
    rest.clear();
  };
  for (size_t pos = 0; pos < text.size();) {
    const Char c = char_at(text, pos);
    if (CharTable::get().flags(c.code_point) & kDigitSplit) {
      flush();
      pieces.emplace_back(text.substr(pos, c.size));
    } else {
      rest += text.substr(pos, c.size);
    }
    pos += c.size;
  }
  flush();
  return pieces;
}

class PreTokenizerTest : public testing::Test {
 protected:
  // Code points that PCRE2 and the table see alike.
  static const std::vector<uint32_t>& shared_code_points() {
    static const std::vector<uint32_t> shared = [] {
      const Regex letter(R"(\p{L})");
      const Regex number(R"(\p{N})");
      const Regex space(R"(\s)");
      std::vector<uint32_t> out;
      for (uint32_t c = 0; c < kInvalidCodePoint; ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        std::string text;
        append_utf8(c, text);
        const uint8_t flags = CharTable::get().flags(c);
        const bool number_is_split = ((flags & kNumber) != 0) == ((flags & kDigitSplit) != 0);
        if (((flags & kLetter) != 0) == (letter.match_at(text, 0) != 0) &&
            ((flags & kNumber) != 0) == (number.match_at(text, 0) != 0) &&
            ((flags & kSpace) != 0) == (space.match_at(text, 0) != 0) && number_is_split) {
          out.push_back(c);
        }
      }
      return out;
    }();
    return shared;
  }

  void check(std::string_view text) {
    EXPECT_EQ(split(PreTokenizer::kGpt2, text), gpt2.split(text)) << text;
    EXPECT_EQ(split(PreTokenizer::kQwen2, text), qwen2.split(text)) << text;
    EXPECT_EQ(split(PreTokenizer::kLlama3, text), llama3.split(text)) << text;
    EXPECT_EQ(split(PreTokenizer::kSmolLm, text), split_smollm(gpt2, text)) << text;
    ++compared;
  }

  Regex gpt2{kGpt2};
  Regex qwen2{kQwen2};
  Regex llama3{kLlama3};
  int compared = 0;
};

TEST_F(PreTokenizerTest, SharesNearlyAllCodePointsWithPcre) {
  EXPECT_GT(shared_code_points().size(), 1'090'000u);
  std::printf("%zu code points compared\n", shared_code_points().size());
}

// All short strings over one or two characters of each class that an expression tells apart.
TEST_F(PreTokenizerTest, AllShortStrings) {
  const std::vector<std::string> alphabet = {"a",
                                             "S",
                                             "l",
                                             "e",
                                             "'",
                                             "1",
                                             " ",
                                             "\n",
                                             "\r",
                                             "\t",
                                             ".",
                                             "\xC5\xBF",
                                             "\xE4\xB8\xAD",
                                             "\xE3\x80\x80",
                                             "\xCC\x81"};
  std::vector<std::string> strings = {""};
  for (int length = 1; length <= 4; ++length) {
    std::vector<std::string> longer;
    for (const std::string& prefix : strings) {
      for (const std::string& c : alphabet) {
        longer.push_back(prefix + c);
        check(longer.back());
      }
      if (HasFailure()) return;
    }
    strings = std::move(longer);
  }
  std::printf("%d strings compared\n", compared);
}

TEST_F(PreTokenizerTest, RandomStrings) {
  const std::vector<uint32_t>& points = shared_code_points();
  const std::vector<std::string> common = {" ",   "  ",       "\n", "\r\n", "\t",       "'s",
                                           "'RE", "'",        "12", "x",    "ab",       ".",
                                           "!?",  "\xC2\xA0", "_",  "'ll",  "\xD9\xA3", std::string(1, '\0')};
  std::mt19937 random(11);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    std::string text;
    for (auto n = random() % 20 + 1; n > 0; --n) {
      if (random() % 2 == 0) {
        append_utf8(points[random() % points.size()], text);
      } else {
        text += common[random() % common.size()];
      }
    }
    check(text);
  }
  std::printf("%d strings compared\n", compared);
}

TEST(PreTokenizer, IllFormedSequencesSplitLikeTheReplacementCharacter) {
  const std::vector<std::string> bytes = {"a", " ", "\n", "1", "\xFF", "\xE4\xBD", "\xE4\xBD\xA0", "."};
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (auto n = random() % 10 + 1; n > 0; --n) text += bytes[random() % bytes.size()];
    std::string replaced;
    append_lossy(text, false, replaced);
    for (const auto kind :
         {PreTokenizer::kGpt2, PreTokenizer::kQwen2, PreTokenizer::kLlama3, PreTokenizer::kSmolLm}) {
      std::vector<std::string> pieces;
      for (const std::string& piece : split(kind, text)) append_lossy(piece, false, pieces.emplace_back());
      EXPECT_EQ(pieces, split(kind, replaced));
    }
  }
}

TEST(PreTokenizer, IsKnownByItsRegex) {
  EXPECT_EQ(pre_tokenizer_of_regex(kGpt2), PreTokenizer::kGpt2);
  EXPECT_EQ(pre_tokenizer_of_regex(kQwen2), PreTokenizer::kQwen2);
  EXPECT_EQ(pre_tokenizer_of_regex(kLlama3), PreTokenizer::kLlama3);
  EXPECT_EQ(pre_tokenizer_of_regex(R"(\s+)"), std::nullopt);
}

}  // namespace
}  // namespace qwick
