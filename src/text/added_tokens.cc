// Finding added tokens in a text. See added_tokens.h.
#include "text/added_tokens.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "text/unicode.h"

namespace qwick {

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  const auto key = [](const AddedToken& token) {
    return std::tuple(std::string_view(token.content), !token.special, token.id);
  };
  std::sort(tokens_.begin(), tokens_.end(),
            [&](const AddedToken& a, const AddedToken& b) { return key(a) < key(b); });
  const auto same = [](const AddedToken& a, const AddedToken& b) { return a.content == b.content; };
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), same), tokens_.end());
  for (const AddedToken& token : tokens_) begins_token_[static_cast<unsigned char>(token.content[0])] = true;
  if (std::count(begins_token_.begin(), begins_token_.end(), true) == 1) {
    only_first_byte_ = static_cast<unsigned char>(tokens_[0].content[0]);
  }
}

size_t AddedTokenMatcher::find_first_byte(std::string_view text, size_t pos) const {
  if (only_first_byte_ >= 0) {
    const size_t found = text.find(static_cast<char>(only_first_byte_), pos);
    return std::min(found, text.size());
  }
  while (pos < text.size() && !begins_token_[static_cast<unsigned char>(text[pos])]) ++pos;
  return pos;
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text, size_t pos) const {
  // The tokens that begin with the first `length` bytes at pos are a range of the sorted ones, and
  // the one of just that length is its first.
  std::span<const AddedToken> range(tokens_);
  const AddedToken* longest = nullptr;
  for (size_t length = 0; !range.empty(); ++length) {
    if (range.front().content.size() == length) {
      longest = &range.front();
      range = range.subspan(1);
    }
    if (pos + length >= text.size()) break;
    const auto byte = static_cast<unsigned char>(text[pos + length]);
    const auto at = [length](const AddedToken& token) {
      return static_cast<unsigned char>(token.content[length]);
    };
    const auto begin =
        std::lower_bound(range.begin(), range.end(), byte,
                         [&](const AddedToken& token, unsigned char b) { return at(token) < b; });
    const auto end = std::upper_bound(
        begin, range.end(), byte, [&](unsigned char b, const AddedToken& token) { return b < at(token); });
    range = {begin, end};
  }
  return longest;
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::Scan::next() {
  if (matcher_.empty()) return std::nullopt;
  while (true) {
    const size_t found = matcher_.find_first_byte(text_, search_);
    if (found == text_.size()) return std::nullopt;
    const AddedToken* token = matcher_.longest_at(text_, found);
    if (token == nullptr) {
      search_ = found + 1;
      continue;
    }
    Match match{found, found + token->content.size(), token->id};
    search_ = match.end;
    if (skip_special_ && token->special) continue;
    if (token->single_word && touches_word(match.begin, match.end)) continue;
    if (token->lstrip) match.begin = spaces_before(match.begin);
    if (token->rstrip) match.end = spaces_after(match.end);
    covered_ = match.end;
    return match;
  }
}

namespace {

// The character that ends at `end`; for an ill-formed one no promise but to have no class.
Char char_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  const Char c = char_at(text.substr(0, end), begin);
  return begin + c.size == end ? c : Char{kInvalidCodePoint, 1};
}

}  // namespace

bool AddedTokenMatcher::Scan::touches_word(size_t begin, size_t end) const {
  const CharTable& table = CharTable::get();
  return (begin > 0 && (table.flags(char_before(text_, begin).code_point) & kWord) != 0) ||
         (end < text_.size() && (table.flags(char_at(text_, end).code_point) & kWord) != 0);
}

// White space that an earlier match took stays with it.
size_t AddedTokenMatcher::Scan::spaces_before(size_t begin) const {
  const CharTable& table = CharTable::get();
  while (begin > covered_) {
    const Char c = char_before(text_, begin);
    if ((table.flags(c.code_point) & kSpace) == 0) break;
    begin -= c.size;
  }
  return std::max(begin, covered_);
}

size_t AddedTokenMatcher::Scan::spaces_after(size_t end) {
  // Tokens that are white space themselves would otherwise scan the same run again and again.
  if (end >= spaces_begin_ && end < spaces_end_) return spaces_end_;
  const CharTable& table = CharTable::get();
  spaces_begin_ = end;
  while (end < text_.size()) {
    const Char c = char_at(text_, end);
    if ((table.flags(c.code_point) & kSpace) == 0) break;
    end += c.size;
  }
  spaces_end_ = end;
  return end;
}

}  // namespace qwick
