// The executor on the processor: quantised weights, 8-bit activations, the paged 8-bit cache. A step
// is one pass of all workers through the layers, with barriers between the operations; it allocates
// nothing. A token's logits are the same bits whatever else is in the step, however its prompt was
// cut, and with any number of threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/raw_vector.h"
#include "base/thread_pool.h"
#include "exec/cpu/kv_blocks.h"
#include "exec/cpu/packed_model.h"
#include "exec/cpu/quant_rows.h"
#include "exec/executor.h"
#include "model/rope.h"

namespace qwick {

class CpuExecutor : public Executor {
 public:
  // `config` and `weights` outlive this object.
  CpuExecutor(const ModelConfig& config, std::span<const float> rope_factors, const PackedModel& weights,
              const Kernels& kernels, const ExecutorOptions& options);

  const ExecutorOptions& options() const override { return options_; }
  uint32_t vocab_size() const override;
  std::span<const float> step(const StepBatch& batch) noexcept override;

 private:
  struct Product {  // y [n_tokens, y_stride] = or += w x
    const QuantMatrix* w;
    float* y;
    size_t y_stride;
  };
  // A token of the step: where it stands and where its key and value go.
  struct StepToken {
    int32_t id;
    uint32_t position;
    int32_t block;
  };
  // Query rows of one key/value head that attend to one sequence's blocks together.
  struct AttentionTask {
    uint32_t chunk;
    uint32_t kv_head;
    uint32_t first_token;  // in the step
    uint32_t n_tokens;
  };

  void plan(const StepBatch& batch);
  void run_worker(int worker, const StepBatch& batch);
  void multiply(int worker, std::span<const Product> products, const QuantRows& x, uint32_t n_tokens,
                bool accumulate);
  void normalize_row(size_t token, const float* weight, uint32_t row);
  void normalize(int worker, const float* weight);
  void requantize(int worker, const float* x, size_t n_cols);
  void prepare_attention(int worker, size_t layer);
  void attend(int worker, size_t layer, const StepBatch& batch);
  void activate(int worker);

  const ModelConfig& config_;
  const PackedModel& weights_;
  const Kernels& kernels_;
  const ExecutorOptions options_;
  const uint32_t group_;  // query heads that share a key/value head
  ThreadPool pool_;
  Rope rope_;
  KvBlocks cache_;

  uint32_t n_tokens_ = 0;
  uint32_t n_logits_ = 0;
  std::vector<StepToken> tokens_;
  std::vector<AttentionTask> tasks_;
  std::atomic<uint32_t> next_task_{0};
  std::vector<uint32_t> logit_rows_;  // tokens whose logits are asked for

  RawVector<float> residual_, normed_;          // [n_tokens, d_model]
  RawVector<float> q_, k_, v_;                  // [n_tokens, q_dim or kv_dim]
  RawVector<float> attended_;                   // [n_tokens, q_dim]
  RawVector<float> gate_, up_;                  // [n_tokens, d_ff]
  RawVector<float> cos_, sin_;                  // [n_tokens, head_dim / 2]
  RawVector<float> logits_;                     // [max_step_logits, padded vocabulary]
  QuantRowsBuffer input_;                       // what the next product multiplies
  RawVector<uint8_t> queries_;                  // [n_kv_heads, n_tokens, group, 2 * head_dim], 16 bits
  RawVector<float> query_scales_;               // [n_kv_heads, n_tokens, group]
  RawVector<int32_t> query_sums_;               // likewise
  std::vector<const uint8_t*> block_pointers_;  // per worker: [max blocks of a sequence]
};

}  // namespace qwick
