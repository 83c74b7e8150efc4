#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>

namespace qwick {
namespace {

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    ThreadPool pool(n_threads);
    for (const size_t n : {0UL, 1UL, 3UL, 4UL, 1000UL}) {
      std::vector<int> counts(n);
      pool.parallel_for(n, [&](int worker, size_t begin, size_t end) {
        EXPECT_LT(worker, n_threads);
        for (size_t i = begin; i < end; ++i) ++counts[i];
      });
      EXPECT_EQ(counts, std::vector<int>(n, 1));
    }
  }
}

TEST(ThreadPool, ResultsAreVisibleLoopAfterLoop) {
  ThreadPool pool(3);
  std::vector<long> values(97);
  for (int round = 0; round < 5000; ++round) {
    pool.parallel_for(values.size(), [&](int, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++values[i];
    });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0L), 97L * 5000);
}

TEST(ThreadPool, BarrierSeparatesPhases) {
  constexpr int kThreads = 3;
  ThreadPool pool(kThreads);
  std::vector<int> written(kThreads);
  std::vector<int> n_wrong(kThreads);
  for (int round = 1; round <= 300; ++round) {
    pool.run([&](int worker) {
      for (int phase = 0; phase < 5; ++phase) {
        written[static_cast<size_t>(worker)] = 10 * round + phase;
        pool.barrier();
        for (const int value : written)
          n_wrong[static_cast<size_t>(worker)] += value != 10 * round + phase ? 1 : 0;
        pool.barrier();
      }
    });
  }
  EXPECT_EQ(n_wrong, std::vector<int>(kThreads));
}

}  // namespace
}  // namespace qwick
