#include "api/special_text_guard.h"

#include <algorithm>
#include <utility>

namespace qwick::api {
namespace {

// Noncharacters: never meant for interchange, so hardly ever in a text. A text that has the mark all
// the same gets the escape behind it.
constexpr std::string_view kMark = "\uFDD0";
constexpr std::string_view kEscape = "\uFDD1";

// Bytes of the UTF-8 character that starts `text`; JSON strings are valid UTF-8.
size_t character_length(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return length;
}

std::vector<std::string> special_spellings(const Tokenizer& tokenizer) {
  std::vector<std::string> spellings;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.is_special(id)) spellings.emplace_back(tokenizer.token_bytes(id));
  }
  return spellings;
}

}  // namespace

SpecialTextGuard::SpecialTextGuard(const Tokenizer& tokenizer)
    : SpecialTextGuard(special_spellings(tokenizer)) {}

SpecialTextGuard::SpecialTextGuard(const std::vector<std::string>& spellings) {
  for (const std::string& spelling : spellings) {
    if (!spelling.empty()) by_first_byte_[static_cast<unsigned char>(spelling[0])].push_back(spelling);
  }
  for (auto& same_start : by_first_byte_) {
    std::sort(same_start.begin(), same_start.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  }
}

size_t SpecialTextGuard::spelling_at(std::string_view text) const {
  for (const std::string& spelling : by_first_byte_[static_cast<unsigned char>(text[0])]) {
    if (text.starts_with(spelling)) return spelling.size();
  }
  return 0;
}

bool SpecialTextGuard::mark(std::string& text) const {
  std::string marked;
  size_t copied = 0;  // text before this place is in `marked`
  const auto insert = [&](size_t place, std::string_view what) {
    marked.append(text, copied, place - copied).append(what);
    copied = place;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with(kMark)) insert(i + kMark.size(), kEscape);
    const size_t length = spelling_at(rest);
    if (length == 0) continue;
    // Inside the spelling, so that no template can cut the mark off and leave the spelling whole.
    const size_t first = character_length(rest);
    insert(first < length ? i + first : i, kMark);
  }
  if (marked.empty()) return false;
  text = marked.append(text, copied);
  return true;
}

bool SpecialTextGuard::mark(Json& value) const {
  if (value.is_string()) return mark(value.get_ref<std::string&>());
  bool any = false;
  if (value.is_array()) {
    for (Json& element : value) any |= mark(element);
  } else if (value.is_object()) {
    Json::object_t members;
    members.reserve(value.size());
    for (auto& [name, member] : value.get_ref<Json::object_t&>()) {
      std::string key = name;
      any |= mark(key);
      any |= mark(member);
      members.emplace_back(std::move(key), std::move(member));
    }
    value = std::move(members);
  }
  return any;
}

std::vector<SpecialTextGuard::Piece> SpecialTextGuard::split(std::string_view prompt) const {
  std::vector<Piece> pieces;
  std::string parsed;  // encoded with its special tokens
  std::string run;     // the text since the last special token
  bool run_marked = false;
  const auto end_run = [&] {
    if (run_marked) {
      if (!parsed.empty()) pieces.push_back({std::exchange(parsed, {}), SpecialText::kParse});
      pieces.push_back({std::exchange(run, {}), SpecialText::kPlain});
    } else {
      parsed += std::exchange(run, {});
    }
    run_marked = false;
  };
  while (!prompt.empty()) {
    if (prompt.starts_with(kMark)) {
      prompt.remove_prefix(kMark.size());
      run_marked = true;
      if (prompt.starts_with(kEscape)) {
        run += kMark;
        prompt.remove_prefix(kEscape.size());
      } else if (!prompt.empty() && !prompt.starts_with(kMark)) {
        const size_t length = character_length(prompt);  // of a spelling: plain whatever follows
        run += prompt.substr(0, length);
        prompt.remove_prefix(length);
      }
      continue;
    }
    if (const size_t length = spelling_at(prompt)) {
      end_run();
      parsed += prompt.substr(0, length);
      prompt.remove_prefix(length);
    } else {
      run += prompt.front();
      prompt.remove_prefix(1);
    }
  }
  end_run();
  if (!parsed.empty()) pieces.push_back({std::move(parsed), SpecialText::kParse});
  return pieces;
}

}  // namespace qwick::api
