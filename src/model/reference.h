// The forward pass in plain f32, as the papers write it: the oracle for every faster path, and the
// engine behind `--dtype f32`. Weights stay as the file has them; a row is turned into f32 when used.
// A token's logits depend on the tokens before it and nothing else: batching and chunking change no bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/model.h"
#include "model/rope.h"

namespace qwick {

// Keys and values of one sequence.
struct ReferenceCache {
  std::vector<std::vector<float>> keys, values;  // per layer: [n_tokens, kv_dim]
  uint32_t n_tokens = 0;

  void clear();
};

// Consecutive tokens of one sequence, to be appended to its cache.
struct ReferenceChunk {
  std::span<const int32_t> tokens;  // 1 or more, each below vocab_size
  ReferenceCache* cache = nullptr;  // in a batch each at most once
  uint32_t n_logits = 0;            // of the last n_logits tokens
};

class Reference {
 public:
  // `model` must outlive this object.
  Reference(const Model& model, int n_threads);

  // logits: [sum of n_logits, vocab_size] f32, in the order of the chunks.
  void forward(std::span<const ReferenceChunk> chunks, std::span<float> logits);

 private:
  using Buffer = std::vector<float>;

  // One layer's vectors in f32; empty where the architecture has none.
  struct LayerVectors {
    Buffer attn_norm, bq, bk, bv, q_norm, k_norm, bo, mlp_norm, b_gate, b_up, b_down;
  };

  void attention_block(size_t layer, std::span<const ReferenceChunk> chunks);
  void mlp_block(size_t layer);
  void attend(size_t layer, const ReferenceChunk& chunk, size_t first_row);
  // y[i] = W x[i] + bias for all rows of x.
  void matmul(const TensorView& w, const Buffer& bias, const Buffer& x, Buffer& y);
  void rms_norm(std::span<const float> x, const Buffer& weight, std::span<float> y) const;

  const Model& model_;
  const ModelConfig& config_;
  ThreadPool pool_;
  Rope rope_;
  std::vector<LayerVectors> vectors_;
  Buffer final_norm_;
  std::vector<Buffer> worker_row_;     // per worker: a weight row in f32
  std::vector<Buffer> worker_scores_;  // per worker: attention weights over the positions

  // Activations of the current call; n_rows = all its tokens.
  size_t n_rows_ = 0;
  Buffer residual_, normed_;        // [n_rows, d_model]
  Buffer q_, attended_;             // [n_rows, q_dim]
  Buffer k_, v_;                    // [n_rows, kv_dim]
  Buffer gate_, up_;                // [n_rows, d_ff]
  Buffer projected_;                // [n_rows, d_model]
};

}  // namespace qwick
