#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace qwick {
namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

double uniform_draw(uint64_t seed, uint64_t position) {
  return static_cast<double>(mix(mix(seed) ^ position) >> 11) * 0x1p-53;
}

Sampler::Sampler(const std::vector<bool>& may_sample) {
  const auto size = static_cast<int32_t>(may_sample.size());
  for (int32_t id = 0; id < size; ++id) {
    if (!may_sample[static_cast<size_t>(id)]) continue;
    if (ranges_.empty() || ranges_.back().end != id) ranges_.push_back({id, id});
    ranges_.back().end = id + 1;
  }
  QWICK_CHECK(!ranges_.empty());
}

// Best first; equal logits by id, so that the order never depends on how it was found.
bool Sampler::is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

int32_t Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                        std::span<const int32_t> seen, uint64_t position) {
  filter(logits, params, seen);
  return draw(uniform_draw(params.seed, position));
}

std::vector<TokenProbability> Sampler::distribution(std::span<const float> logits,
                                                    const SamplingParams& params,
                                                    std::span<const int32_t> seen) {
  filter(logits, params, seen);
  double total = 0;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
  std::vector<TokenProbability> result;
  result.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    result.push_back({candidate.id, std::exp(candidate.logit) / total});
  }
  return result;
}

// Leaves in candidates_ what may come; logits relative to the best one's 0.
void Sampler::filter(std::span<const float> logits, const SamplingParams& params,
                     std::span<const int32_t> seen) {
  load(logits, params, seen);
  if (params.temperature == 0) {
    candidates_ = {{0.0F, std::min_element(candidates_.begin(), candidates_.end(), is_better)->id}};
    return;
  }
  // Scaled from the best one down, which changes no probability and keeps a tiny temperature finite.
  const float best = std::min_element(candidates_.begin(), candidates_.end(), is_better)->logit;
  for (Candidate& candidate : candidates_) {
    const double scaled = (static_cast<double>(candidate.logit) - best) / params.temperature;
    candidate.logit = candidate.logit == best ? 0.0F : static_cast<float>(scaled);
  }
  if (params.top_k > 0) keep_top_k(static_cast<size_t>(params.top_k));
  if (params.top_p < 1) keep_top_p(params.top_p);
  if (params.min_p > 0) keep_min_p(params.min_p);
}

void Sampler::load(std::span<const float> logits, const SamplingParams& params,
                   std::span<const int32_t> seen) {
  if (params.repetition_penalty != 1) {
    penalised_.assign(logits.begin(), logits.end());
    const auto penalty = static_cast<float>(params.repetition_penalty);
    for (const int32_t id : seen) {
      float& logit = penalised_[static_cast<size_t>(id)];
      logit = logit < 0 ? logit * penalty : logit / penalty;
    }
    logits = penalised_;
  }
  candidates_.clear();
  for (const Range& range : ranges_) {
    for (int32_t id = range.begin; id < std::min(range.end, static_cast<int32_t>(logits.size())); ++id) {
      const float logit = logits[static_cast<size_t>(id)];
      // Broken weights may give NaN, which has no place in an order.
      candidates_.push_back({std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit, id});
    }
  }
}

// Those at least as good as the k-th best: ties with it stay, as in transformers.
void Sampler::keep_top_k(size_t k) {
  if (k >= candidates_.size()) return;
  const auto kth = candidates_.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(candidates_.begin(), kth, candidates_.end(), is_better);
  const float threshold = kth->logit;
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.logit < threshold; });
  std::sort(candidates_.begin(), candidates_.end(), is_better);
}

// The fewest of the best that together have a probability of top_p or more; at least one.
void Sampler::keep_top_p(double top_p) {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
  // Mostly a few hundred hold nearly all: order only so many, more if they turn out not to.
  const size_t n_all = candidates_.size();
  for (size_t n_ordered = 256;; n_ordered *= 8) {
    const size_t n = std::min(n_ordered, n_all);
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(n);
    if (n < n_all) std::nth_element(candidates_.begin(), end, candidates_.end(), is_better);
    std::sort(candidates_.begin(), end, is_better);
    double mass = 0;
    for (size_t i = 0; i < n; ++i) {
      mass += std::exp(candidates_[i].logit);
      if (mass >= top_p * total) {
        candidates_.resize(i + 1);
        return;
      }
    }
    if (n == n_all) return;
  }
}

// Those with at least min_p times the probability of the best, whose logit is 0.
void Sampler::keep_min_p(double min_p) {
  std::erase_if(candidates_, [&](const Candidate& c) { return std::exp(c.logit) < min_p; });
}

int32_t Sampler::draw(double uniform) const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
  double rest = uniform * total;
  for (const Candidate& candidate : candidates_) {
    rest -= std::exp(candidate.logit);
    if (rest < 0) return candidate.id;
  }
  return candidates_.back().id;  // rounding
}

}  // namespace qwick
