// When to try a request again, and for how long to wait before: twice as long each time, or as long as
// the server asks. Used by whoever calls HttpClient.
#pragma once

#include <chrono>
#include <optional>

namespace qwick {

class Backoff {
 public:
  explicit Backoff(int max_attempts) : max_attempts_(max_attempts) {}

  // The next wait after a failed attempt; nothing: give up. A server that asks for more than
  // kLongestWait is not waited for.
  std::optional<std::chrono::milliseconds> next(std::optional<std::chrono::seconds> retry_after);
  void reset() { n_failed_ = 0; }  // something was achieved

  static constexpr std::chrono::seconds kLongestWait{120};

 private:
  int max_attempts_;
  int n_failed_ = 0;
};

}  // namespace qwick
