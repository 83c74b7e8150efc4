#include "exec/cpu/limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "exec/cpu/aligned_bytes.h"

namespace qwick {
namespace {

constexpr size_t kBufferBytes = size_t{512} << 20;  // far more than any cache
constexpr int kRounds = 7;
constexpr double kRoundSeconds = 0.05;

double seconds_of(auto&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double read_bandwidth(const Kernels& kernels, ThreadPool& pool) {
  constexpr size_t kUnit = 4096;
  AlignedBytes buffer(kBufferBytes);
  const auto for_shares = [&](auto&& body) {
    pool.parallel_for(kBufferBytes / kUnit, [&](int, size_t begin, size_t end) {
      body(buffer.data() + begin * kUnit, (end - begin) * kUnit);
    });
  };
  for_shares([](uint8_t* p, size_t n) { std::memset(p, 1, n); });
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds =
        seconds_of([&] { for_shares([&](const uint8_t* p, size_t n) { kernels.stream(p, n); }); });
    best = std::max(best, static_cast<double>(kBufferBytes) / seconds);
  }
  return best;
}

double int8_peak(const Kernels& kernels, ThreadPool& pool) {
  size_t n_rounds = 10000;
  double best = 0;
  for (int round = 0; round < kRounds;) {
    std::atomic<uint64_t> n_macs{0};
    const double seconds = seconds_of([&] { pool.run([&](int) { n_macs += kernels.spin_dots(n_rounds); }); });
    if (seconds < kRoundSeconds) {
      n_rounds *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(n_macs) / seconds);
    ++round;
  }
  return best;
}

}  // namespace

MachineLimits measure_limits(const Kernels& kernels, ThreadPool& pool) {
  return {read_bandwidth(kernels, pool), int8_peak(kernels, pool)};
}

}  // namespace qwick
