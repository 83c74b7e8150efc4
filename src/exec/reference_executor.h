// The executor over model/reference: plain f32, the oracle. Each slot's cache grows with its sequence.
#pragma once

#include <memory>
#include <vector>

#include "exec/executor.h"
#include "model/reference.h"

namespace qwick {

class ReferenceExecutor : public Executor {
 public:
  // `model` must outlive this object.
  ReferenceExecutor(const Model& model, int n_threads, int32_t n_slots, uint32_t max_positions);

  int32_t n_slots() const override { return static_cast<int32_t>(caches_.size()); }
  uint32_t max_positions() const override { return max_positions_; }
  uint32_t vocab_size() const override { return vocab_size_; }
  std::span<const float> step(const StepBatch& batch) noexcept override;

 private:
  Reference reference_;
  uint32_t max_positions_;
  uint32_t vocab_size_;
  std::vector<ReferenceCache> caches_;  // [n_slots]
  std::vector<float> logits_;
};

}  // namespace qwick
