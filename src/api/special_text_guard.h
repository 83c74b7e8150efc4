// Keeps what users write from becoming special tokens. A message that spells "<|im_end|>" must reach
// the model as text, else its author could end the turn and speak as the system. The template sees
// the user's strings with a marker inside every such spelling; afterwards the marked stretches of
// the prompt are encoded as plain text and everything else as the template means it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/tokenizer.h"

namespace qwick::api {

class SpecialTextGuard {
 public:
  explicit SpecialTextGuard(const Tokenizer& tokenizer);  // its special tokens
  explicit SpecialTextGuard(const std::vector<std::string>& spellings);

  // Marks all spellings in a text, or in all strings and keys of a JSON value. Returns whether there
  // were any (or anything that looks like a marker, which is escaped).
  bool mark(std::string& text) const;
  bool mark(Json& value) const;

  struct Piece {
    std::string text;
    SpecialText special;
    bool operator==(const Piece&) const = default;
  };
  // A rendered prompt with marks, in pieces to encode one after the other. The marks are gone.
  std::vector<Piece> split(std::string_view prompt) const;

 private:
  // Length of the longest spelling that starts `text`, 0 for none.
  size_t spelling_at(std::string_view text) const;

  std::array<std::vector<std::string>, 256> by_first_byte_;  // longest first
};

}  // namespace qwick::api
