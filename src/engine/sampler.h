// Chooses the next token from logits, with the semantics of Hugging Face transformers and in its
// order: repetition penalty; then, unless greedy, temperature, top-k, top-p, min-p, one draw.
// The vocabulary is never sorted; only what survives top-k or top-p is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"

namespace qwick {

struct TokenProbability {
  int32_t id;
  double probability;
};

class Sampler {
 public:
  // may_sample[id] false, and ids beyond its end: never chosen (padding of the vocabulary).
  // At least one id may be chosen.
  explicit Sampler(const std::vector<bool>& may_sample);

  // `logits`: [vocab_size] f32. `seen`: the distinct ids of prompt and output so far, for the
  // repetition penalty. `position`: how many tokens precede the one to choose; with the seed it
  // determines the draw.
  int32_t sample(std::span<const float> logits, const SamplingParams& params, std::span<const int32_t> seen,
                 uint64_t position);

  // What sample() draws from: every id that may come, with its probability.
  std::vector<TokenProbability> distribution(std::span<const float> logits, const SamplingParams& params,
                                             std::span<const int32_t> seen);

 private:
  struct Candidate {
    float logit;
    int32_t id;
  };
  struct Range {
    int32_t begin, end;
  };

  static bool is_better(const Candidate& a, const Candidate& b);
  void filter(std::span<const float> logits, const SamplingParams& params, std::span<const int32_t> seen);
  void load(std::span<const float> logits, const SamplingParams& params, std::span<const int32_t> seen);
  void keep_top_k(size_t k);
  void keep_top_p(double top_p);
  void keep_min_p(double min_p);
  int32_t draw(double uniform) const;

  std::vector<Range> ranges_;          // ids that may be chosen, ascending
  std::vector<Candidate> candidates_;  // by id after load(), best first once something was cut
  std::vector<float> penalised_;
};

// A number in [0, 1) that depends on its arguments alone.
double uniform_draw(uint64_t seed, uint64_t position);

}  // namespace qwick
