// The one definition of a percentile.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace qwick {

// The smallest of the values, 1 or more, that at least this share of them does not exceed. Reorders them.
inline double nearest_rank(std::span<double> values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  const auto at = values.begin() + std::max<std::ptrdiff_t>(rank, 0);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace qwick
