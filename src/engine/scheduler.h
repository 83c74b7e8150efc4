// Decides what the next step computes: continuous batching over a paged cache. Every running sequence
// decodes in every step; prompts are read in chunks under a budget, first come, first served: a small one
// while answers run, so that a long prompt does not hold them up, the whole step's when none do. When blocks
// run out, the youngest sequence gives its own back and waits; it loses nothing but time. Owned and called by
// the engine thread alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/block_manager.h"
#include "engine/request.h"
#include "engine/sampler.h"
#include "exec/executor.h"

namespace qwick {

// A request at work.
struct Sequence {
  uint64_t id = 0;
  GenerationRequest request;
  std::vector<int32_t> tokens;  // prompt and what was generated
  uint32_t n_cached = 0;        // tokens whose keys and values are in the cache
  std::vector<int32_t> blocks;  // of the cache
  std::vector<ChainKey> chain;  // [i]: key of the tokens before block i; grows as blocks fill
  uint32_t n_reused = 0;        // prompt tokens that came from the cache
  uint32_t n_scored = 0;        // prompt tokens whose log-probabilities have been given, where asked for
  std::vector<SeenToken> seen;  // the distinct ids of tokens, kept only for penalties
  std::chrono::steady_clock::time_point started;  // its first step; the engine's

  Sequence(uint64_t sequence_id, GenerationRequest generation_request);
  void append(int32_t token);
  uint32_t n_generated() const { return static_cast<uint32_t>(tokens.size() - request.prompt.size()); }
  uint32_t n_left() const { return static_cast<uint32_t>(tokens.size()) - n_cached; }  // to compute
  // Prompt tokens whose log-probabilities are still to be given.
  uint32_t n_unscored() const {
    return request.prompt_logprobs ? static_cast<uint32_t>(request.prompt.size()) - 1 - n_scored : 0;
  }
  // Ids that are not to come next.
  std::span<const int32_t> banned() const {
    return n_generated() < request.min_tokens ? std::span(request.stop_ids) : std::span<const int32_t>();
  }

 private:
  void note_seen(int32_t token, uint32_t n_generated);

  std::vector<uint32_t> seen_at_;  // by id: place in `seen`, plus 1
};

// A step of a few answers takes about as long as reading all weights once; a token of a prompt beside them
// adds a twentieth of that to a seventh (AVX2). So this many keep a step below four times one without
// prompts, which is what answers are to wait at most. With more, prompts would be read twice as fast at best.
inline constexpr uint32_t kPromptTokensBesideAnswers = 16;
// After so many tokens another one takes twice the time of the first, since it attends to all of them
// (measured on Qwen3-0.6B, AVX2; about 700 with AVX-512-VNNI). Fewer are read in a step then.
inline constexpr uint32_t kDepthOfDoubleCost = 1024;

struct SchedulerOptions {
  uint32_t max_running = 16;
  uint32_t max_step_logits = 16;                                           // max_running or more
  uint32_t max_step_tokens = 256;                                          // of prompts and answers together
  uint32_t max_prompt_tokens_beside_answers = kPromptTokensBesideAnswers;  // 1 or more; fewer at depth
  uint32_t depth_of_double_cost = kDepthOfDoubleCost;
};

class Scheduler {
 public:
  Scheduler(uint32_t n_blocks, SchedulerOptions options);

  void add(std::unique_ptr<Sequence> sequence);
  // Removes a sequence, waiting or running, and frees its blocks; nothing when there is none of this id.
  std::unique_ptr<Sequence> remove(uint64_t id);
  std::vector<std::unique_ptr<Sequence>> remove_all();

  // Fills `batch`. Chunks that reach the end of their sequence ask for one row of logits, those whose
  // prompt is to be scored for all; chunk i belongs to sequences_in_step()[i].
  void plan(StepBatch& batch);
  // Until the next plan(). Sequences removed since then are gone, their places in the list are not.
  std::span<Sequence* const> sequences_in_step() const { return in_step_; }
  // After the step: the chunk's tokens are in the cache; blocks that became full are remembered.
  void note_computed(Sequence& sequence, uint32_t n_tokens);

  bool empty() const { return running_.empty() && waiting_.empty(); }
  size_t n_running() const { return running_.size(); }
  size_t n_waiting() const { return waiting_.size(); }
  const BlockManager& blocks() const { return blocks_; }
  uint64_t n_preemptions() const { return n_preemptions_; }

 private:
  void admit();
  void reuse_prefix(Sequence& sequence);
  void reuse_beginning(Sequence& sequence, StepBatch& batch);
  bool is_in_step(const Sequence& sequence) const;
  bool is_being_read(const Sequence& sequence) const;
  uint32_t depth_cost(uint32_t depth) const;
  uint32_t reserve(Sequence& sequence, uint32_t n_tokens);
  void free_blocks(Sequence& sequence);
  void add_chunk(Sequence& sequence, uint32_t n_tokens, StepBatch& batch);

  BlockManager blocks_;
  SchedulerOptions options_;
  uint64_t n_preemptions_ = 0;
  std::deque<std::unique_ptr<Sequence>> waiting_;   // by arrival
  std::vector<std::unique_ptr<Sequence>> running_;  // by arrival
  std::vector<Sequence*> in_step_;
  uint32_t n_logits_left_ = 0;             // of the step being planned
  std::vector<ChainKey> keys_being_read_;  // of the blocks of prompts in it
};

}  // namespace qwick
