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

// Keys and values in f32, in numbered blocks of tokens; a block gets its memory when it is first written.
// A sequence's cache is a list of blocks, in the order of its positions.
class ReferenceCache {
 public:
  static constexpr uint32_t kBlockTokens = 32;

  ReferenceCache(const ModelConfig& config, uint32_t n_blocks);

  uint32_t n_blocks() const { return static_cast<uint32_t>(blocks_.size()); }
  // [kv_dim] of the token at `position` of the sequence that has these blocks.
  float* key(size_t layer, std::span<const int32_t> blocks, size_t position) const;
  float* value(size_t layer, std::span<const int32_t> blocks, size_t position) const {
    return key(layer, blocks, position) + size_t{kBlockTokens} * kv_dim_;
  }
  void prepare(int32_t block);  // before anything is written to it
  void copy(int32_t from, int32_t to) {
    blocks_[static_cast<size_t>(to)] = blocks_[static_cast<size_t>(from)];
  }

 private:
  size_t n_layers_;
  size_t kv_dim_;
  std::vector<std::vector<float>> blocks_;  // [n_layers, 2, kBlockTokens, kv_dim] each
};

// Consecutive tokens of one sequence. The cache holds all before them and gets theirs.
struct ReferenceChunk {
  std::span<const int32_t> tokens;  // 1 or more, each below vocab_size
  uint32_t position = 0;            // of tokens[0]
  std::span<const int32_t> blocks;  // of the sequence, enough for the tokens
  uint32_t n_logits = 0;            // of the last n_logits tokens
};

class Reference {
 public:
  // `model` must outlive this object.
  Reference(const Model& model, int n_threads);

  // logits: [sum of n_logits, vocab_size] f32, in the order of the chunks. Each sequence at most once.
  void forward(std::span<const ReferenceChunk> chunks, ReferenceCache& cache, std::span<float> logits);

 private:
  using Buffer = std::vector<float>;

  // One layer's vectors in f32; empty where the architecture has none.
  struct LayerVectors {
    Buffer attn_norm, bq, bk, bv, q_norm, k_norm, bo, mlp_norm, b_gate, b_up, b_down;
  };

  void attention_block(size_t layer, std::span<const ReferenceChunk> chunks, ReferenceCache& cache);
  void mlp_block(size_t layer);
  void attend(size_t layer, const ReferenceChunk& chunk, size_t first_row, ReferenceCache& cache);
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
  Buffer residual_, normed_;  // [n_rows, d_model]
  Buffer q_, attended_;       // [n_rows, q_dim]
  Buffer k_, v_;              // [n_rows, kv_dim]
  Buffer gate_, up_;          // [n_rows, d_ff]
  Buffer projected_;          // [n_rows, d_model]
};

}  // namespace qwick
