#include "server/sliding_window.h"

#include <algorithm>
#include <limits>

#include "base/nearest_rank.h"

namespace qwick {
namespace {

double percentile(std::vector<double>& values, double share) {
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : nearest_rank(values, share);
}

}  // namespace

SlidingWindow::Slot& SlidingWindow::slot(Time now) {
  const int64_t second = second_of(now);
  Slot& slot = slots_[static_cast<size_t>(second % kSpan.count())];
  if (slot.second != second) slot = {.second = second};
  return slot;
}

void SlidingWindow::add_latency(Time now, double seconds) {
  if (latencies_.size() < kMaxLatencies) {
    latencies_.push_back({now, seconds});
    return;
  }
  latencies_[next_latency_] = {now, seconds};
  next_latency_ = (next_latency_ + 1) % kMaxLatencies;
}

WindowFigures SlidingWindow::figures(Time now) const {
  WindowFigures figures;
  const int64_t second = second_of(now);
  for (const Slot& slot : slots_) {
    if (slot.second < 0 || slot.second <= second - kSpan.count()) continue;
    figures.n_tokens += slot.n_tokens;
    figures.n_finished += slot.n_finished;
    figures.busy_seconds += slot.busy_seconds;
  }
  // The slots are the current second and those before it, and the current one is not over.
  const double age = std::chrono::duration<double>(now - start_).count();
  figures.seconds = std::min(age, kSpan.count() - 1 + age - static_cast<double>(second));
  std::vector<double> latencies;
  for (const Latency& latency : latencies_) {
    if (now - latency.at < kSpan) latencies.push_back(latency.seconds);
  }
  figures.latency_p50 = percentile(latencies, 0.50);
  figures.latency_p95 = percentile(latencies, 0.95);
  figures.latency_p99 = percentile(latencies, 0.99);
  return figures;
}

}  // namespace qwick
