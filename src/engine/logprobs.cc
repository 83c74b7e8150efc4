#include "engine/logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace qwick {
namespace {

// Broken weights may give NaN, which has no place in an order.
float number(float logit) {
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  const float max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  return max + std::log(sum);
}

TokenLogprobs token_logprobs(std::span<const float> logits, int32_t id, uint32_t n_top) {
  const double log_sum = log_sum_exp(logits);
  const auto logprob = [&](int32_t of) {
    const auto exact = static_cast<float>(logits[static_cast<size_t>(of)] - log_sum);
    return IdLogprob{of, std::max(kLowestLogprob, number(exact))};
  };
  TokenLogprobs result{logprob(id), {}};
  if (n_top == 0) return result;
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto end = ids.begin() + std::min<std::ptrdiff_t>(n_top, std::ssize(ids));
  std::partial_sort(ids.begin(), end, ids.end(), [&](int32_t a, int32_t b) {
    const float x = number(logits[static_cast<size_t>(a)]);
    const float y = number(logits[static_cast<size_t>(b)]);
    return x != y ? x > y : a < b;
  });
  for (auto at = ids.begin(); at != end; ++at) result.top.push_back(logprob(*at));
  return result;
}

}  // namespace qwick
