#include "engine/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "base/check.h"
#include "base/random.h"

namespace qwick {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Four at a time: maxps, which keeps its second operand when the first is NaN.
using Lanes [[gnu::vector_size(16)]] = float;

Lanes load_lanes(const float* at) {
  Lanes lanes;
  std::memcpy(&lanes, at, sizeof lanes);
  return lanes;
}

Lanes max(Lanes a, Lanes b) {
  return a > b ? a : b;
}

// The greatest; NaN counts as minus infinity.
float max_of(std::span<const float> values) {
  const Lanes lowest = Lanes{} - kInfinity;
  Lanes lanes[4] = {lowest, lowest, lowest, lowest};
  size_t i = 0;
  for (; i + 16 <= values.size(); i += 16) {
    for (size_t j = 0; j < 4; ++j) lanes[j] = max(load_lanes(&values[i + 4 * j]), lanes[j]);
  }
  const Lanes all = max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]));
  float best = std::max(std::max(all[0], all[1]), std::max(all[2], all[3]));
  for (; i < values.size(); ++i) best = values[i] > best ? values[i] : best;
  return best;
}

// Floats in their order as integers, and back.
int64_t rank_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
float with_rank(int64_t rank) {
  const auto bits = static_cast<int32_t>(rank);
  return std::bit_cast<float>(bits ^ ((bits >> 31) & 0x7FFFFFFF));
}

// Where u, in [0, 1), comes to lie among weights of this sum: always below the sum, rounding or not.
double draw_target(double uniform, double total) {
  return std::min(uniform * total, std::nextafter(total, 0.0));
}

// Somewhat less than the scaled logit of this weight, so that no rounding loses one that reaches it.
float scaled_below(double weight) {
  return static_cast<float>(std::log(weight) - 1e-3);
}

}  // namespace

double uniform_draw(uint64_t seed, uint64_t position) {
  const uint64_t bits = mix_bits((mix_bits(seed + kGoldenGamma) ^ position) + kGoldenGamma);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

Sampler::Sampler(const std::vector<bool>& may_sample) {
  const auto size = static_cast<int32_t>(may_sample.size());
  for (int32_t id = 0; id < size; ++id) {
    if (id % kBlockIds == 0) first_blocks_.push_back(static_cast<uint32_t>(blocks_.size()));
    if (!may_sample[static_cast<size_t>(id)]) continue;
    if (blocks_.empty() || blocks_.back().end != id || id % kBlockIds == 0) blocks_.push_back({id, id});
    blocks_.back().end = id + 1;
    ++n_ids_;
  }
  QWICK_CHECK(n_ids_ > 0);
  is_changed_.resize(blocks_.size());
  block_best_.resize(blocks_.size());
}

// Best first; equal logits by id, so that the order never depends on how it was found.
bool Sampler::is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

int32_t Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                        std::span<const SeenToken> seen, uint64_t position, std::span<const int32_t> banned) {
  read(logits, params, seen, banned);
  if (params.temperature == 0) return best_id();
  const double uniform = uniform_draw(params.seed, position);
  if (params.top_k <= 0 && params.top_p >= 1 && params.min_p <= 0) return draw_from_all(uniform);
  filter(params);
  return draw_from_candidates(uniform);
}

std::vector<TokenProbability> Sampler::distribution(std::span<const float> logits,
                                                    const SamplingParams& params,
                                                    std::span<const SeenToken> seen,
                                                    std::span<const int32_t> banned) {
  read(logits, params, seen, banned);
  if (params.temperature == 0) return {{best_id(), 1.0}};
  filter(params);
  double total = 0;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
  std::vector<TokenProbability> result;
  result.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    result.push_back({candidate.id, std::exp(candidate.logit) / total});
  }
  return result;
}

void Sampler::read(std::span<const float> logits, const SamplingParams& params,
                   std::span<const SeenToken> seen, std::span<const int32_t> banned) {
  QWICK_CHECK(logits.size() >= static_cast<size_t>(blocks_.back().end));
  logits_ = logits;
  temperature_ = params.temperature;
  std::fill(is_changed_.begin(), is_changed_.end(), uint8_t{0});
  if (!params.depends_on_past()) seen = {};
  if (!seen.empty() || !banned.empty() || !params.logit_bias.empty()) change_logits(params, seen, banned);
  for (size_t block = 0; block < blocks_.size(); ++block) block_best_[block] = max_of(logits_of(block));
  best_ = max_of(block_best_);
}

// The block of an id; none where it is never chosen.
std::optional<size_t> Sampler::block_of(int32_t id) const {
  const auto multiple = static_cast<size_t>(id / kBlockIds);
  if (multiple >= first_blocks_.size()) return std::nullopt;
  size_t block = first_blocks_[multiple];
  while (block < blocks_.size() && blocks_[block].end <= id) ++block;
  if (block == blocks_.size() || blocks_[block].begin > id) return std::nullopt;
  return block;
}

// Only blocks with a changed id are copied, in the order of memory: the ids are in any.
void Sampler::change_logits(const SamplingParams& params, std::span<const SeenToken> seen,
                            std::span<const int32_t> banned) {
  changed_.resize(logits_.size());
  const auto mark = [&](int32_t id) {
    if (const std::optional<size_t> block = block_of(id)) is_changed_[*block] = 1;
  };
  for (const SeenToken& token : seen) mark(token.id);
  for (const LogitBias& bias : params.logit_bias) mark(bias.id);
  for (const int32_t id : banned) mark(id);
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (is_changed_[block] == 0) continue;
    const auto [begin, end] = blocks_[block];
    std::copy(logits_.begin() + begin, logits_.begin() + end, changed_.begin() + begin);
  }

  // Outside of the copied blocks nothing is read.
  const auto change = [&](int32_t id, auto to) {
    if (static_cast<size_t>(id) >= changed_.size()) return;
    float& logit = changed_[static_cast<size_t>(id)];
    logit = to(logit);
  };
  for (const auto& [id, bias] : params.logit_bias) change(id, [&](float logit) { return logit + bias; });
  const auto repetition = static_cast<float>(params.repetition_penalty);
  const auto presence = static_cast<float>(params.presence_penalty);
  const auto frequency = static_cast<float>(params.frequency_penalty);
  for (const SeenToken& token : seen) {
    change(token.id, [&](float logit) {
      const float repeated = logit < 0 ? logit * repetition : logit / repetition;
      if (token.n_generated == 0) return repeated;
      return repeated - frequency * static_cast<float>(token.n_generated) - presence;
    });
  }
  for (const int32_t id : banned) change(id, [](float /*logit*/) { return -kInfinity; });
}

std::span<const float> Sampler::logits_of(size_t block) const {
  const float* all = is_changed_[block] != 0 ? changed_.data() : logits_.data();
  return {all + blocks_[block].begin, all + blocks_[block].end};
}

int32_t Sampler::best_id() const {
  if (best_ == -kInfinity) return blocks_.front().begin;  // all of them equal
  const auto block =
      static_cast<size_t>(std::find(block_best_.begin(), block_best_.end(), best_) - block_best_.begin());
  const std::span<const float> logits = logits_of(block);
  return blocks_[block].begin +
         static_cast<int32_t>(std::find(logits.begin(), logits.end(), best_) - logits.begin());
}

// Divided by the temperature from the best one down, which changes no probability and keeps a tiny
// temperature finite: the best becomes 0, the others less. Broken weights may give NaN, which has no
// place in an order: minus infinity.
float Sampler::scale(float logit) const {
  const float number = std::isnan(logit) ? -kInfinity : logit;
  const double scaled = (static_cast<double>(number) - best_) / temperature_;
  return number == best_ ? 0.0F : static_cast<float>(scaled);
}

// The lowest logit that scale() takes to this or more: several have the same scaled value.
float Sampler::lowest_logit_scaled_to(float scaled) const {
  int64_t low = rank_of(-kInfinity);
  int64_t high = rank_of(best_);
  while (low < high) {
    const int64_t middle = (low + high) >> 1;  // rounds down below zero too
    if (scale(with_rank(middle)) >= scaled) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return with_rank(high);
}

// k logits or more reach it, one in each of k blocks.
float Sampler::kth_best_block(size_t k) {
  if (k > blocks_.size()) return -kInfinity;
  best_blocks_.resize(k);
  std::partial_sort_copy(block_best_.begin(), block_best_.end(), best_blocks_.begin(), best_blocks_.end(),
                         std::greater<>());
  return best_blocks_.back();
}

// Leaves in candidates_ what may come.
void Sampler::filter(const SamplingParams& params) {
  if (params.top_k > 0) {
    const auto k = static_cast<size_t>(params.top_k);
    collect(lowest_logit_scaled_to(scale(kth_best_block(k))));
    keep_top_k(k);
    double total = 0;
    for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
    if (params.top_p < 1) keep_top_p(params.top_p, total);
  } else if (params.top_p < 1) {
    // All those below 1 - top_p of the mean weight together are less than what may be left out.
    const double total = sum_weights();
    const double left_out = (1 - std::max(params.top_p, 0.0)) * total;
    collect(lowest_logit_scaled_to(scaled_below(left_out / static_cast<double>(n_ids_))));
    keep_top_p(params.top_p, total);
  } else {
    collect(params.min_p > 0 ? lowest_logit_scaled_to(scaled_below(params.min_p)) : -kInfinity);
  }
  if (params.min_p > 0) keep_min_p(params.min_p);
}

// Ascending, since blocks are.
void Sampler::collect(float lowest_logit) {
  candidates_.clear();
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (block_best_[block] < lowest_logit) continue;
    const std::span<const float> logits = logits_of(block);
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] >= lowest_logit || lowest_logit == -kInfinity)
        candidates_.push_back({scale(logits[i]), blocks_[block].begin + static_cast<int32_t>(i)});
    }
  }
}

// Those at least as good as the k-th best: ties with it stay, as in transformers.
void Sampler::keep_top_k(size_t k) {
  if (k >= n_ids_) return;
  const auto kth = candidates_.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(candidates_.begin(), kth, candidates_.end(), is_better);
  const float threshold = kth->logit;
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.logit < threshold; });
  std::sort(candidates_.begin(), candidates_.end(), is_better);
}

// The fewest of the best that together have top_p or more of the total weight; at least one.
void Sampler::keep_top_p(double top_p, double total) {
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

// Those with at least min_p times the weight of the best, which is 1.
void Sampler::keep_min_p(double min_p) {
  std::erase_if(candidates_, [&](const Candidate& c) { return std::exp(c.logit) < min_p; });
}

// By id, whatever the blocks: the sum is to be the same bits always.
double Sampler::sum_weights() {
  block_mass_.resize(blocks_.size());
  double total = 0;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    for (const float logit : logits_of(block)) total += std::exp(scale(logit));
    block_mass_[block] = total;
  }
  return total;
}

int32_t Sampler::draw_from_all(double uniform) {
  const double target = draw_target(uniform, sum_weights());
  const auto found = std::upper_bound(block_mass_.begin(), block_mass_.end(), target);
  const auto block = static_cast<size_t>(found - block_mass_.begin());
  double mass = block == 0 ? 0.0 : block_mass_[block - 1];
  int32_t id = blocks_[block].begin;
  for (const float logit : logits_of(block)) {
    mass += std::exp(scale(logit));
    if (mass > target) break;
    ++id;
  }
  return id;
}

int32_t Sampler::draw_from_candidates(double uniform) const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += std::exp(candidate.logit);
  const double target = draw_target(uniform, total);
  double mass = 0;
  size_t i = 0;
  for (; i + 1 < candidates_.size(); ++i) {
    mass += std::exp(candidates_[i].logit);
    if (mass > target) break;
  }
  return candidates_[i].id;
}

}  // namespace qwick
