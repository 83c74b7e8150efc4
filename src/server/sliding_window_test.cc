#include "server/sliding_window.h"

#include <gtest/gtest.h>

#include <cmath>

namespace qwick {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SlidingWindow::Time kStart{std::chrono::hours(5)};

TEST(SlidingWindow, NothingYet) {
  const WindowFigures figures = SlidingWindow(kStart).figures(kStart + seconds(2));
  EXPECT_TRUE(std::isnan(figures.latency_p50) && std::isnan(figures.latency_p99));
  EXPECT_EQ(figures.n_tokens, 0U);
  EXPECT_DOUBLE_EQ(figures.seconds, 2);
}

TEST(SlidingWindow, PercentilesAreNearestRanks) {
  SlidingWindow window(kStart);
  for (int i = 100; i > 0; --i) window.add_latency(kStart, i);
  WindowFigures figures = window.figures(kStart);
  EXPECT_EQ(figures.latency_p50, 50);
  EXPECT_EQ(figures.latency_p95, 95);
  EXPECT_EQ(figures.latency_p99, 99);
  SlidingWindow one(kStart);
  one.add_latency(kStart, 7);
  figures = one.figures(kStart);
  EXPECT_EQ(figures.latency_p50, 7);
  EXPECT_EQ(figures.latency_p99, 7);
}

TEST(SlidingWindow, ForgetsWhatIsOlderThanAMinute) {
  SlidingWindow window(kStart);
  window.add_token(kStart);
  window.add_latency(kStart, 1);
  window.add_finished(kStart);
  window.add_busy(kStart, 0.5);
  const auto at_59 = window.figures(kStart + milliseconds(59'900));
  EXPECT_EQ(at_59.n_tokens, 1U);
  EXPECT_EQ(at_59.n_finished, 1U);
  EXPECT_EQ(at_59.latency_p50, 1);
  EXPECT_EQ(at_59.busy_seconds, 0.5);
  const auto at_60 = window.figures(kStart + seconds(60));
  EXPECT_EQ(at_60.n_tokens, 0U);
  EXPECT_EQ(at_60.busy_seconds, 0);
  EXPECT_TRUE(std::isnan(at_60.latency_p50));
  // The same places are used again.
  window.add_token(kStart + seconds(60));
  window.add_token(kStart + seconds(3600));
  EXPECT_EQ(window.figures(kStart + seconds(3600)).n_tokens, 1U);
}

TEST(SlidingWindow, IsAsLongAsItsSecondsAre) {
  const SlidingWindow window(kStart);
  EXPECT_DOUBLE_EQ(window.figures(kStart + milliseconds(30'500)).seconds, 30.5);
  EXPECT_DOUBLE_EQ(window.figures(kStart + milliseconds(500'250)).seconds, 59.25);
}

TEST(SlidingWindow, KeepsTheLatestOfTooManyLatencies) {
  SlidingWindow window(kStart);
  for (size_t i = 0; i < SlidingWindow::kMaxLatencies; ++i) window.add_latency(kStart, 1);
  for (size_t i = 0; i < SlidingWindow::kMaxLatencies; ++i) window.add_latency(kStart, 2);
  EXPECT_EQ(window.figures(kStart).latency_p50, 2);
}

}  // namespace
}  // namespace qwick
