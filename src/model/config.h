// The dimensions of a model: the one place where they are named. Read from config.json (as
// transformers 4 and 5 write it) or from GGUF metadata, checked, then the same for everybody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "format/gguf.h"

namespace qwick {

enum class Architecture { kQwen3, kQwen2, kLlama };
std::string_view architecture_name(Architecture architecture);  // "qwen3"

enum class RopeKind { kDefault, kLinear, kYarn, kLlama3 };
std::string_view rope_kind_name(RopeKind kind);

// Rotary position embedding. A pair of elements (i, i + head_dim/2) turns by position * frequency(i).
struct RopeConfig {
  RopeKind kind = RopeKind::kDefault;
  double theta = 10000.0;
  double factor = 1.0;                                   // linear, yarn, llama3; at least 1
  uint32_t original_max_positions = 0;                   // yarn, llama3
  double beta_fast = 32.0, beta_slow = 1.0;              // yarn
  std::optional<double> attention_factor;                // yarn; absent: 0.1 ln(factor) + 1
  bool truncate = true;                                  // yarn: round the correction range to whole pairs
  double low_freq_factor = 1.0, high_freq_factor = 4.0;  // llama3
};

struct ModelConfig {
  Architecture architecture = Architecture::kQwen3;
  // The model's own name, never empty, valid UTF-8 in one line. GGUF: general.name, or else the file's
  // name without its ending. Hugging Face: the directory's name (config.json's _name_or_path is
  // mostly a path on the machine of whoever trained it); in the hub's cache, the repository's.
  std::string name;
  uint32_t n_layers = 0;
  uint32_t d_model = 0;        // width of the residual stream
  uint32_t n_heads = 0;        // query heads
  uint32_t n_kv_heads = 0;     // key/value heads; each serves n_heads / n_kv_heads query heads
  uint32_t head_dim = 0;       // even; independent of d_model / n_heads
  uint32_t d_ff = 0;           // width of the MLP
  uint32_t vocab_size = 0;     // rows of the embedding, padding included
  uint32_t max_positions = 0;  // context length
  float rms_norm_eps = 1e-6F;
  bool tied_embeddings = false;  // the output head is the embedding
  bool qkv_bias = false;         // bias on q, k and v (qwen2)
  bool output_bias = false;      // bias on o (llama with attention_bias)
  bool mlp_bias = false;         // bias on gate, up and down (llama with mlp_bias)
  bool qk_norm = false;          // RMSNorm of every q and k head (qwen3)
  bool interleaved_rope =
      false;  // pairs are (2i, 2i+1): q and k rows as llama.cpp permutes them (llama GGUF)
  RopeConfig rope;

  uint32_t q_dim() const { return n_heads * head_dim; }
  uint32_t kv_dim() const { return n_kv_heads * head_dim; }
};

// What the model's authors advise for sampling; absent: not said.
struct GenerationDefaults {
  std::vector<int32_t> eos_ids;
  std::optional<bool> do_sample;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;  // 0: off
};

// config.json. Throws Error kInvalidFile or kUnsupported naming the file and the field.
ModelConfig read_hf_config(const FileSet& files);
ModelConfig read_gguf_config(const GgufFile& file);
// generation_config.json where there is one, then eos_token_id of config.json; GGUF: eos metadata.
GenerationDefaults read_hf_generation_defaults(const FileSet& files);
GenerationDefaults read_gguf_generation_defaults(const GgufFile& file);

}  // namespace qwick
