// Added tokens ("<|im_end|>"): whole strings that are cut out of a text before anything else happens
// to it. Used by Tokenizer::encode. The rules are those of Hugging Face tokenizers: leftmost-longest
// matches; a match that then does not count still consumes its text for other added tokens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

inline constexpr size_t kMaxAddedTokenBytes = 1024;  // bounds the work at one position of a text

struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool special = false;      // not part of the text that users see
  bool normalized = false;   // looked for after normalization instead of before
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and after it
  bool single_word = false;  // only where no word character touches it
};

class AddedTokenMatcher {
 public:
  // No content may be empty; of two tokens with the same one a special one counts, else the lower id.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  struct Match {
    size_t begin, end;
    int32_t id;
  };
  // Goes through one text.
  class Scan {
   public:
    // skip_special: matches of special tokens don't count.
    Scan(const AddedTokenMatcher& matcher, std::string_view text, bool skip_special)
        : matcher_(matcher), text_(text), skip_special_(skip_special) {}
    std::optional<Match> next();

   private:
    bool touches_word(size_t begin, size_t end) const;
    size_t spaces_before(size_t begin) const;
    size_t spaces_after(size_t end);

    const AddedTokenMatcher& matcher_;
    std::string_view text_;
    bool skip_special_;
    size_t search_ = 0;      // where the next match may begin
    size_t covered_ = 0;     // the end of the last match, with its white space
    size_t spaces_end_ = 0;  // the end of the last white space that was skipped, from spaces_begin_
    size_t spaces_begin_ = 0;
  };

 private:
  // The longest token that text has at pos, or nullptr.
  const AddedToken* longest_at(std::string_view text, size_t pos) const;
  size_t find_first_byte(std::string_view text, size_t pos) const;

  std::vector<AddedToken> tokens_;  // by content
  std::array<bool, 256> begins_token_{};
  int only_first_byte_ = -1;  // where all tokens begin with the same byte
};

}  // namespace qwick
