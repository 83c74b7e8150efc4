#include "exec/reference_executor.h"

#include "base/check.h"

namespace qwick {

ReferenceExecutor::ReferenceExecutor(const Model& model, int n_threads, int32_t n_slots, uint32_t max_positions)
    : reference_(model, n_threads),
      max_positions_(max_positions),
      vocab_size_(model.config().vocab_size),
      caches_(static_cast<size_t>(n_slots)) {}

std::span<const float> ReferenceExecutor::step(const StepBatch& batch) noexcept {
  std::vector<ReferenceChunk> chunks;
  size_t n_logits = 0;
  for (const SequenceChunk& chunk : batch.chunks) {
    ReferenceCache& cache = caches_[static_cast<size_t>(chunk.slot)];
    if (chunk.position == 0) cache.clear();
    QWICK_CHECK(chunk.position == cache.n_tokens);
    QWICK_CHECK(chunk.position + chunk.tokens.size() <= max_positions_);
    chunks.push_back({chunk.tokens, &cache, chunk.n_logits});
    n_logits += chunk.n_logits;
  }
  logits_.resize(n_logits * vocab_size_);
  reference_.forward(chunks, logits_);
  return logits_;
}

}  // namespace qwick
