// Decides what the next step computes: continuous batching. Every running sequence decodes in every
// step; prompts are read in chunks under a budget, first come, first served, so that a long prompt
// does not hold up the answers beside it. Owned and called by the engine thread alone.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/request.h"
#include "exec/executor.h"

namespace qwick {

// A request at work.
struct Sequence {
  uint64_t id = 0;
  GenerationRequest request;
  std::vector<int32_t> tokens;    // prompt and what was generated
  uint32_t n_cached = 0;          // tokens in the executor's cache
  int32_t slot = -1;
  std::vector<int32_t> seen_ids;  // distinct ids of tokens, kept only for a repetition penalty
  std::vector<bool> is_seen;      // by id

  Sequence(uint64_t sequence_id, GenerationRequest generation_request);
  void append(int32_t token);
  uint32_t n_generated() const { return static_cast<uint32_t>(tokens.size() - request.prompt.size()); }

 private:
  void note_seen(int32_t token);
};

class Scheduler {
 public:
  Scheduler(int32_t n_slots, uint32_t prompt_chunk);

  void add(std::unique_ptr<Sequence> sequence);
  // Removes a sequence, waiting or running; nothing when there is none of this id.
  std::unique_ptr<Sequence> remove(uint64_t id);
  std::vector<std::unique_ptr<Sequence>> remove_all();

  // Gives waiting sequences the free slots and fills `batch`. Chunks that reach the end of their
  // sequence ask for one row of logits; they belong to sequences_in_step()[i] for chunk i.
  void plan(StepBatch& batch);
  std::span<Sequence* const> sequences_in_step() const { return in_step_; }

  bool empty() const { return running_.empty() && waiting_.empty(); }
  size_t n_running() const { return running_.size(); }
  size_t n_waiting() const { return waiting_.size(); }

 private:
  void add_chunk(Sequence& sequence, uint32_t n_tokens, StepBatch& batch);

  uint32_t prompt_chunk_;
  std::vector<int32_t> free_slots_;
  std::deque<std::unique_ptr<Sequence>> waiting_;   // by arrival
  std::vector<std::unique_ptr<Sequence>> running_;  // by arrival
  std::vector<Sequence*> in_step_;
};

}  // namespace qwick
