// Chooses the next token from logits, with the semantics of Hugging Face transformers and in its
// order: repetition penalty; then, unless greedy, temperature, top-k, top-p, min-p, one draw.
// The vocabulary is read once, for the best logit of every block of ids; a bound that follows from
// those tells which few blocks can hold what survives top-k or min-p. Top-p and plain temperature need
// one more pass, for the sum of all weights. Owned by the engine; one call at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/request.h"

namespace qwick {

// A distinct id of prompt or output.
struct SeenToken {
  int32_t id = 0;
  uint32_t n_generated = 0;  // how often it is in the output
};

struct TokenProbability {
  int32_t id;
  double probability;
};

class Sampler {
 public:
  // may_sample[id] false, and ids beyond its end: never chosen (padding of the vocabulary).
  // At least one id may be chosen.
  explicit Sampler(const std::vector<bool>& may_sample);

  // `logits`: [vocab_size] f32, all ids that may be chosen among them. `seen`: the distinct ids of prompt
  // and output so far, for the penalties. `position`: how many tokens precede the one to choose; with the
  // seed it determines the draw. `banned`: ids not to be chosen this time.
  int32_t sample(std::span<const float> logits, const SamplingParams& params, std::span<const SeenToken> seen,
                 uint64_t position, std::span<const int32_t> banned = {});

  // What sample() draws from: every id that may come, with its probability.
  std::vector<TokenProbability> distribution(std::span<const float> logits, const SamplingParams& params,
                                             std::span<const SeenToken> seen,
                                             std::span<const int32_t> banned = {});

 private:
  struct Candidate {
    float logit;  // scaled
    int32_t id;
  };
  // Ids [begin, end) that may be chosen, all in the same multiple of kBlockIds.
  struct Block {
    int32_t begin, end;
  };
  static constexpr int32_t kBlockIds = 128;

  static bool is_better(const Candidate& a, const Candidate& b);

  void read(std::span<const float> logits, const SamplingParams& params, std::span<const SeenToken> seen,
            std::span<const int32_t> banned);
  std::optional<size_t> block_of(int32_t id) const;
  void change_logits(const SamplingParams& params, std::span<const SeenToken> seen,
                     std::span<const int32_t> banned);
  std::span<const float> logits_of(size_t block) const;
  int32_t best_id() const;
  float scale(float logit) const;
  float lowest_logit_scaled_to(float scaled) const;
  float kth_best_block(size_t k);

  void filter(const SamplingParams& params);
  void collect(float lowest_logit);
  void keep_top_k(size_t k);
  void keep_top_p(double top_p, double total);
  void keep_min_p(double min_p);
  double sum_weights();
  int32_t draw_from_all(double uniform);
  int32_t draw_from_candidates(double uniform) const;

  std::vector<Block> blocks_;           // ascending
  std::vector<uint32_t> first_blocks_;  // [i]: the first block at or beyond id i * kBlockIds
  size_t n_ids_ = 0;                    // that may be chosen

  // Of the logits at hand.
  std::span<const float> logits_;
  std::vector<float> changed_;       // [vocab_size]; filled only in blocks with a changed logit
  std::vector<uint8_t> is_changed_;  // by block
  std::vector<float> block_best_;    // by block: the greatest logit; NaN counts as minus infinity
  float best_ = 0;                   // the greatest of all
  double temperature_ = 1;
  std::vector<double> block_mass_;     // by block: sum of the weights up to its end
  std::vector<float> best_blocks_;     // the k greatest of block_best_
  std::vector<Candidate> candidates_;  // by id when collected, best first once something was cut
};

// A number in [0, 1) that depends on its arguments alone.
double uniform_draw(uint64_t seed, uint64_t position);

}  // namespace qwick
