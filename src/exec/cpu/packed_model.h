// A model ready for the kernels: every matrix quantised and in tiles, every vector in f32.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/thread_pool.h"
#include "exec/cpu/aligned_bytes.h"
#include "exec/cpu/packed_matrix.h"
#include "model/model.h"

namespace qwick {

struct PackedLayer {
  const float* attn_norm = nullptr;  // [d_model]
  QuantMatrix wq{}, wk{}, wv{};      // [q_dim or kv_dim, d_model]
  const float* bq = nullptr;         // [q_dim]; null where the architecture has no biases
  const float* bk = nullptr;         // [kv_dim]
  const float* bv = nullptr;         // [kv_dim]
  const float* q_norm = nullptr;     // [head_dim]; null where there is none
  const float* k_norm = nullptr;     // [head_dim]
  const float* key_sizes = nullptr;  // [kv_dim] what is to be expected of keys: the cache holds key / size
  QuantMatrix wo{};                  // [d_model, q_dim]
  const float* mlp_norm = nullptr;   // [d_model]
  QuantMatrix w_gate{}, w_up{};      // [d_ff, d_model]
  QuantMatrix w_down{};              // [d_model, d_ff]
};

struct PackedModel {
  QuantMatrix embedding{};            // [vocab_size, d_model]
  QuantMatrix lm_head{};              // the embedding when tied
  const float* final_norm = nullptr;  // [d_model]
  std::vector<PackedLayer> layers;

  // What the views above look at: the matrices, then the vectors. Owned, or a file of which it is a part.
  std::variant<AlignedBytes, MappedFile> storage;
  std::span<const uint8_t> payload;
};

// How a packed model is laid out: the same for the same shapes and types of tensors.
struct PackedLayout {
  uint64_t n_matrix_bytes = 0;
  uint64_t n_bytes = 0;  // of matrices and vectors
  uint64_t hash = 0;     // of every tensor's format and size, in order
};

// Whether the kernels can run this model; else a line that says why not.
std::string why_not_packable(const ModelConfig& config);

// Matrices that the file has in 16 or 32 bits become `wanted`; quantised ones keep their width.
PackedLayout packed_layout(const Model& model, QuantFormat wanted);
PackedModel pack_model(const Model& model, QuantFormat wanted, ThreadPool& pool);
// The model whose payload, packed before from a model of the same layout, is at `offset` of a file.
PackedModel view_packed_model(const Model& model, QuantFormat wanted, MappedFile file, size_t offset);

}  // namespace qwick
