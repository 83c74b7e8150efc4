// The one seam between scheduling and computing: a step runs the model over some tokens of some
// sequences and gives logits for the rows that ask. The engine thread is the only caller.
//
// A sequence's cache is a list of blocks of kBlockTokens tokens: block i holds the keys and values of
// positions [32 i, 32 i + 32). The executor owns their memory, the engine decides whose they are;
// sequences that begin alike may share blocks that are full, and copy one that is to go on otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qwick {

inline constexpr uint32_t kCacheBlockTokens = 32;

// Consecutive tokens of one sequence: one when decoding, a chunk of the prompt before.
struct SequenceChunk {
  std::span<const int32_t> blocks;  // of the sequence, enough for the tokens below
  uint32_t position = 0;            // of tokens[0]; the cache holds all before it
  std::span<const int32_t> tokens;  // 1 or more
  uint32_t n_logits = 0;            // logits for the last n_logits tokens; 0: only fill the cache
};

struct BlockCopy {
  int32_t from = 0;
  int32_t to = 0;
};

struct StepBatch {
  std::vector<SequenceChunk> chunks;   // each sequence at most once
  std::vector<BlockCopy> copies = {};  // made before anything else, in this order
};

struct ExecutorOptions {
  int n_threads = 1;
  uint32_t n_blocks = 0;         // of the cache
  uint32_t max_positions = 0;    // tokens of one sequence
  uint32_t max_step_tokens = 0;  // of all chunks of a step together
  uint32_t max_step_logits = 0;  // rows of logits in a step
  bool has_wide_keys = false;    // keys in the cache of 16 bits instead of 8, where it is quantised
};

class Executor {
 public:
  virtual ~Executor() = default;

  virtual const ExecutorOptions& options() const = 0;
  virtual uint32_t vocab_size() const = 0;  // logits in a row; may be padded beyond the model's
  // Logits [sum of n_logits, vocab_size] f32, in the order of the chunks; valid until the next step.
  virtual std::span<const float> step(const StepBatch& batch) noexcept = 0;
};

}  // namespace qwick
