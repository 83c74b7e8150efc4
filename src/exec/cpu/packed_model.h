// A model ready for the kernels: every matrix quantised and in tiles, every vector in f32.
#pragma once

#include <string>
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

  AlignedBytes matrices;  // what the views above look at
  std::vector<float> vectors;
};

// Whether the kernels can run this model; else a line that says why not.
std::string why_not_packable(const ModelConfig& config);

// Matrices that the file has in 16 or 32 bits become `wanted`; quantised ones keep their width.
PackedModel pack_model(const Model& model, QuantFormat wanted, ThreadPool& pool);

}  // namespace qwick
