#include "exec/reference_executor.h"

#include "base/check.h"

namespace qwick {

static_assert(ReferenceCache::kBlockTokens == kCacheBlockTokens);

ReferenceExecutor::ReferenceExecutor(const Model& model, const ExecutorOptions& options)
    : options_(options),
      vocab_size_(model.config().vocab_size),
      reference_(model, options.n_threads),
      cache_(model.config(), options.n_blocks) {}

std::span<const float> ReferenceExecutor::step(const StepBatch& batch) noexcept {
  for (const BlockCopy& copy : batch.copies) cache_.copy(copy.from, copy.to);
  std::vector<ReferenceChunk> chunks;
  size_t n_logits = 0;
  for (const SequenceChunk& chunk : batch.chunks) {
    QWICK_CHECK(chunk.position + chunk.tokens.size() <= options_.max_positions);
    chunks.push_back({chunk.tokens, chunk.position, chunk.blocks, chunk.n_logits});
    n_logits += chunk.n_logits;
  }
  QWICK_CHECK(n_logits <= options_.max_step_logits);
  logits_.resize(n_logits * vocab_size_);
  reference_.forward(chunks, cache_, logits_);
  return logits_;
}

}  // namespace qwick
