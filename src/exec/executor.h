// The one seam between scheduling and computing: a step runs the model over some tokens of some
// sequences and gives logits for the rows that ask. The engine thread is the only caller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qwick {

// Consecutive tokens of one sequence: one when decoding, a chunk of the prompt before. tokens[0] stands
// at `position`, the number of tokens that the slot's cache holds already; 0 starts a new sequence there.
struct SequenceChunk {
  int32_t slot = 0;                  // which of the executor's caches holds this sequence
  uint32_t position = 0;
  std::span<const int32_t> tokens;   // 1 or more
  uint32_t n_logits = 0;             // logits for the last n_logits tokens; 0: only fill the cache
};

struct StepBatch {
  std::vector<SequenceChunk> chunks;  // each slot at most once
};

class Executor {
 public:
  virtual ~Executor() = default;

  virtual int32_t n_slots() const = 0;         // sequences at once
  virtual uint32_t max_positions() const = 0;  // tokens a slot can hold
  virtual uint32_t vocab_size() const = 0;
  // Logits [sum of n_logits, vocab_size] f32, in the order of the chunks; valid until the next step.
  virtual std::span<const float> step(const StepBatch& batch) noexcept = 0;
};

}  // namespace qwick
