#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace qwick {
namespace {

using Frequencies = std::vector<double>;

// Frequencies below the trained range are divided by `factor`, those well inside stay, a ramp between
// (YaRN, "NTK-by-parts").
void scale_yarn(const RopeConfig& rope, double head_dim, Frequencies& frequencies) {
  const auto pair_that_turns = [&](double n_turns) {  // over the original context
    return head_dim * std::log(rope.original_max_positions / (n_turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  double low = pair_that_turns(rope.beta_fast);
  double high = pair_that_turns(rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_dim - 1);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double interpolated = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= interpolated / rope.factor + (1 - interpolated);
  }
}

// As YaRN in spirit, with the bounds given as wavelengths (Llama 3.1).
void scale_llama3(const RopeConfig& rope, Frequencies& frequencies) {
  for (double& frequency : frequencies) {
    const double n_turns = rope.original_max_positions * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp(
        (n_turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor), 0.0, 1.0);
    frequency *= (1 - kept) / rope.factor + kept;
  }
}

}  // namespace

Rope::Rope(const ModelConfig& config, std::span<const float> factors)
    : interleaved_(config.interleaved_rope) {
  const RopeConfig& rope = config.rope;
  const size_t n_pairs = config.head_dim / 2;
  QWICK_CHECK(factors.empty() || factors.size() == n_pairs);
  Frequencies frequencies(n_pairs);
  for (size_t i = 0; i < n_pairs; ++i) {
    frequencies[i] = std::pow(rope.theta, -2.0 * static_cast<double>(i) / config.head_dim);
    if (!factors.empty()) frequencies[i] /= factors[i];
  }
  switch (rope.kind) {
    case RopeKind::kDefault:
      break;
    case RopeKind::kLinear:
      for (double& frequency : frequencies) frequency /= rope.factor;
      break;
    case RopeKind::kYarn:
      scale_yarn(rope, config.head_dim, frequencies);
      scaling_ = static_cast<float>(
          rope.attention_factor.value_or(rope.factor > 1 ? 0.1 * std::log(rope.factor) + 1 : 1.0));
      break;
    case RopeKind::kLlama3:
      scale_llama3(rope, frequencies);
      break;
  }
  frequencies_.assign(frequencies.begin(), frequencies.end());
}

void Rope::angles(uint32_t position, std::span<float> cos, std::span<float> sin) const noexcept {
  for (size_t i = 0; i < frequencies_.size(); ++i) {
    // The angle is rounded to f32, as the reference implementation does.
    const double angle = static_cast<float>(position) * frequencies_[i];
    cos[i] = static_cast<float>(std::cos(angle)) * scaling_;
    sin[i] = static_cast<float>(std::sin(angle)) * scaling_;
  }
}

void Rope::rotate(std::span<float> head, std::span<const float> cos,
                  std::span<const float> sin) const noexcept {
  const size_t n_pairs = frequencies_.size();
  const size_t stride = interleaved_ ? 2 : 1;          // from a pair to the next
  const size_t distance = interleaved_ ? 1 : n_pairs;  // from an element to its partner
  for (size_t i = 0; i < n_pairs; ++i) {
    float& x = head[i * stride];
    float& y = head[i * stride + distance];
    const float turned = x * cos[i] - y * sin[i];
    y = y * cos[i] + x * sin[i];
    x = turned;
  }
}

}  // namespace qwick
