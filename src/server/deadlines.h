// When which request has to have ended: all get the same time, so they come due in the order of their
// arrival. Owned by Server; I/O thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace qwick {

class Deadlines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `at` is no earlier than those before.
  void add(Time at, uint64_t id) { queue_.emplace_back(at, id); }

  std::optional<Time> next() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.front().first);
  }
  std::vector<uint64_t> take_due(Time now) {
    std::vector<uint64_t> due;
    for (; !queue_.empty() && queue_.front().first <= now; queue_.pop_front())
      due.push_back(queue_.front().second);
    return due;
  }

 private:
  std::deque<std::pair<Time, uint64_t>> queue_;
};

}  // namespace qwick
