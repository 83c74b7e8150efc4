#include "hub/backoff.h"

#include <algorithm>
#include <random>

namespace qwick {

std::optional<std::chrono::milliseconds> Backoff::next(std::optional<std::chrono::seconds> retry_after) {
  constexpr std::chrono::milliseconds kFirst{400};
  constexpr std::chrono::milliseconds kMost{30'000};
  if (++n_failed_ >= max_attempts_) return std::nullopt;
  if (retry_after && *retry_after > kLongestWait) return std::nullopt;
  if (retry_after) return std::chrono::milliseconds(*retry_after);
  const auto wait = std::min(kMost, kFirst * (1 << std::min(n_failed_ - 1, 10)));
  // A random half of it, so that many connections that broke at once don't come back at once.
  std::random_device random;
  return wait / 2 + std::chrono::milliseconds(random() % static_cast<unsigned>(wait.count() / 2));
}

}  // namespace qwick
