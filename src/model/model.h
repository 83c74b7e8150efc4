// A model opened for use: its files mapped, its configuration, its tensors by their roles.
// Nothing is copied: weights are views into the mappings, valid as long as the Model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "format/gguf.h"
#include "format/safetensors.h"
#include "model/config.h"

namespace qwick {

// Matrices are [rows = outputs, cols = inputs], of any DType; vectors are F32, F16 or BF16. A view
// with empty data is a tensor the architecture does not have.
struct LayerWeights {
  TensorView attn_norm;       // [d_model]
  TensorView wq, bq;          // [q_dim, d_model], [q_dim]
  TensorView wk, bk;          // [kv_dim, d_model], [kv_dim]
  TensorView wv, bv;          // [kv_dim, d_model], [kv_dim]
  TensorView q_norm, k_norm;  // [head_dim]
  TensorView wo, bo;          // [d_model, q_dim], [d_model]
  TensorView mlp_norm;        // [d_model]
  TensorView w_gate, b_gate;  // [d_ff, d_model], [d_ff]
  TensorView w_up, b_up;      // [d_ff, d_model], [d_ff]
  TensorView w_down, b_down;  // [d_model, d_ff], [d_model]
};

struct Weights {
  TensorView embedding;     // [vocab_size, d_model]
  TensorView final_norm;    // [d_model]
  TensorView lm_head;       // [vocab_size, d_model]; the embedding when tied
  TensorView rope_factors;  // [head_dim / 2] f32, only in GGUF files with scaled RoPE (rope_freqs.weight)
  std::vector<LayerWeights> layers;
};

// A model's files: a Hugging Face directory (or the embedded one), or one GGUF file.
using ModelFiles = std::variant<FileSet, std::shared_ptr<const GgufFile>>;

class Model {
 public:
  // Reads the configuration and finds and checks every tensor (missing, unexpected, wrong shape).
  // Throws Error kNotFound, kIo, kInvalidFile, kUnsupported.
  static Model open(ModelFiles files);

  const ModelFiles& files() const { return files_; }
  const ModelConfig& config() const { return config_; }
  // End-of-sequence ids that the vocabulary does not have are left out: they can't be produced.
  const GenerationDefaults& generation_defaults() const { return generation_defaults_; }
  const Weights& weights() const { return weights_; }
  const std::vector<TensorView>& tensors() const;  // all of them, in the file's order
  std::span<const MappedFile> weight_files() const;

 private:
  explicit Model(ModelFiles files) : files_(std::move(files)) {}

  ModelFiles files_;
  std::unique_ptr<Safetensors> safetensors_;  // Hugging Face only
  ModelConfig config_;
  GenerationDefaults generation_defaults_;
  Weights weights_;
};

}  // namespace qwick
