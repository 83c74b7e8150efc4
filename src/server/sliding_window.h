// The last minute of a service in fixed memory (about 70 KiB): latencies, tokens, and how long the engine
// worked. Owned by ServiceMetrics; all calls with times that don't go back.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace qwick {

struct WindowFigures {
  double latency_p50 = 0, latency_p95 = 0, latency_p99 = 0;  // seconds; NaN without a latency in the window
  uint64_t n_tokens = 0;
  uint64_t n_finished = 0;  // requests
  double busy_seconds = 0;
  double seconds = 0;  // that the window is long: less than kSpan after the start
};

class SlidingWindow {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kSpan{60};
  // Percentiles are exact up to so many latencies in the window, and those of the latest where there are
  // more.
  static constexpr size_t kMaxLatencies = 4096;

  explicit SlidingWindow(Time start) : start_(start) {}

  void add_latency(Time now, double seconds);
  void add_token(Time now) { ++slot(now).n_tokens; }
  void add_finished(Time now) { ++slot(now).n_finished; }
  void add_busy(Time now, double seconds) { slot(now).busy_seconds += seconds; }

  WindowFigures figures(Time now) const;

 private:
  // What happened in one second.
  struct Slot {
    int64_t second = -1;  // since start_
    uint64_t n_tokens = 0;
    uint64_t n_finished = 0;
    double busy_seconds = 0;
  };
  struct Latency {
    Time at;
    double seconds = 0;
  };

  int64_t second_of(Time now) const {
    return std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  }
  Slot& slot(Time now);

  Time start_;
  std::array<Slot, kSpan.count()> slots_;
  std::vector<Latency> latencies_;  // a ring once it is full
  size_t next_latency_ = 0;
};

}  // namespace qwick
