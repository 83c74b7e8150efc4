// The executor over model/reference: plain f32, the oracle.
#pragma once

#include <vector>

#include "exec/executor.h"
#include "model/reference.h"

namespace qwick {

class ReferenceExecutor : public Executor {
 public:
  // `model` must outlive this object.
  ReferenceExecutor(const Model& model, const ExecutorOptions& options);

  const ExecutorOptions& options() const override { return options_; }
  uint32_t vocab_size() const override { return vocab_size_; }
  std::span<const float> step(const StepBatch& batch) noexcept override;

 private:
  ExecutorOptions options_;
  uint32_t vocab_size_;
  Reference reference_;
  ReferenceCache cache_;
  std::vector<float> logits_;
};

}  // namespace qwick
