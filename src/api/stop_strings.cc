#include "api/stop_strings.h"

#include <algorithm>
#include <utility>

namespace qwick::api {

StopStrings::StopStrings(const std::vector<std::string>& stops, bool show_stop) : show_stop_(show_stop) {
  for (const std::string& stop : stops) {
    Pattern pattern{stop, std::vector<size_t>(stop.size(), 0)};
    for (size_t i = 1, length = 0; i < stop.size(); ++i) {
      while (length > 0 && stop[i] != stop[length]) length = pattern.border[length - 1];
      if (stop[i] == stop[length]) ++length;
      pattern.border[i] = length;
    }
    patterns_.push_back(std::move(pattern));
  }
}

bool StopStrings::Pattern::advance(char c) {
  while (n_matched > 0 && c != text[n_matched]) n_matched = border[n_matched - 1];
  if (c == text[n_matched]) ++n_matched;
  return n_matched == text.size();
}

std::string StopStrings::push(std::string_view text) {
  if (found_) return {};
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    held_ += c;
    size_t longest = 0;
    for (Pattern& pattern : patterns_) {
      if (pattern.advance(c)) longest = std::max(longest, pattern.text.size());
    }
    if (longest > 0) {
      found_ = true;
      const size_t n_removed = show_stop_ ? 0 : longest;
      n_cut_ = n_removed + text.size() - i - 1;
      held_.resize(held_.size() - n_removed);
      return std::exchange(held_, {});
    }
  }
  size_t n_held = 0;
  for (const Pattern& pattern : patterns_) n_held = std::max(n_held, pattern.n_matched);
  std::string shown = held_.substr(0, held_.size() - n_held);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopStrings::flush() {
  return std::exchange(held_, {});
}

}  // namespace qwick::api
