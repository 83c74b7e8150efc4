// Finds stop strings in text that comes in pieces. Text that may turn out to be the start of a stop
// string is held back, so none of it is shown too early and none is lost. The result does not depend
// on how the text was cut into pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace qwick::api {

class StopStrings {
 public:
  // None is empty. `show_stop`: the stop string itself is shown too.
  explicit StopStrings(const std::vector<std::string>& stops, bool show_stop = false);

  // Returns what can be shown: once a stop string is complete, the text before it, and nothing after.
  std::string push(std::string_view text);
  std::string flush();  // the text is at its end: what was held back
  bool found() const { return found_; }
  // Bytes at the end of what was pushed that are not shown: held back, or never to be.
  size_t n_hidden() const { return found_ ? n_cut_ : held_.size(); }

 private:
  struct Pattern {
    std::string text;
    std::vector<size_t> border;  // [i]: longest proper prefix of text that ends text[0, i] (KMP)
    size_t n_matched = 0;        // bytes of `text` that end what was pushed
    bool advance(char c);        // true: complete
  };

  std::vector<Pattern> patterns_;
  bool show_stop_;
  std::string held_;
  bool found_ = false;
  size_t n_cut_ = 0;
};

}  // namespace qwick::api
