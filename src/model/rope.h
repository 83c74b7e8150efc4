// Rotary position embedding (Su et al., arXiv 2104.09864) with its scalings: linear, YaRN (Peng et
// al., arXiv 2309.00071) and llama3's, as Hugging Face transformers computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace qwick {

class Rope {
 public:
  // `factors` ([head_dim / 2] f32, from GGUF's rope_freqs.weight, or empty) divide the frequencies.
  Rope(const ModelConfig& config, std::span<const float> factors);

  // cos and sin of every pair's angle at a position, both [head_dim / 2], attention scaling included.
  void angles(uint32_t position, std::span<float> cos, std::span<float> sin) const noexcept;
  // Turns one head [head_dim] in place.
  void rotate(std::span<float> head, std::span<const float> cos, std::span<const float> sin) const noexcept;

  std::span<const float> frequencies() const { return frequencies_; }  // [head_dim / 2] radians per position

 private:
  std::vector<float> frequencies_;
  float scaling_ = 1.0F;  // of cos and sin
  bool interleaved_;      // pairs are (2i, 2i+1) rather than (i, i + head_dim/2)
};

}  // namespace qwick
