// The configuration in GGUF metadata, with the keys, defaults and meanings of llama.cpp.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "format/message.h"
#include "model/config.h"
#include "model/config_check.h"

namespace qwick {
namespace {

// The keys of one architecture, "qwen3.block_count", read with bounds.
class Keys {
 public:
  Keys(const GgufFile& file, Architecture architecture)
      : file_(&file), prefix_(std::string(architecture_name(architecture)) + ".") {}

  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  const GgufFile& file() const { return *file_; }

  std::optional<uint32_t> find_uint(std::string_view name, uint64_t min, uint64_t max) const {
    const auto value = file_->find_uint(key(name));
    if (!value) return std::nullopt;
    if (*value < min || *value > max) {
      invalid_file("{}: {} must be a whole number from {} to {}, found {}", file_->name(), key(name), min,
                   max, *value);
    }
    return static_cast<uint32_t>(*value);
  }
  uint32_t get_uint(std::string_view name, uint64_t min, uint64_t max) const {
    const auto value = find_uint(name, min, max);
    if (!value) invalid_file("{}: {} is missing", file_->name(), key(name));
    return *value;
  }
  // Above min and at most max; equal to min where `closed`.
  std::optional<double> find_number(std::string_view name, double min, double max,
                                    bool closed = false) const {
    const auto value = file_->find_float(key(name));
    if (!value) return std::nullopt;
    if (!std::isfinite(*value) || *value > max || *value < min || (*value == min && !closed)) {
      invalid_file("{}: {} must be a number {} {}, at most {}, found {}", file_->name(), key(name),
                   closed ? "of at least" : "above", min, max, *value);
    }
    return value;
  }

  // Keys of variants that these architectures do not have here: anything but this value is refused.
  void refuse_unless(std::string_view name, double neutral) const {
    const auto value = file_->find_float(key(name));
    if (value && *value != neutral) {
      fail(ErrorCode::kUnsupported, "{}: {} {} is not supported ({} is)", file_->name(), key(name), *value,
           neutral);
    }
  }

 private:
  const GgufFile* file_;
  std::string prefix_;
};

const TensorView* find_tensor(const GgufFile& file, std::string_view name) {
  for (const TensorView& tensor : file.tensors()) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Architecture read_architecture(const GgufFile& file) {
  const std::string_view name = file.get_string("general.architecture");
  const auto architecture = find_architecture(name);
  if (!architecture) {
    fail(ErrorCode::kUnsupported, "{}: general.architecture {} is not supported (qwen3, qwen2 and llama are)",
         file.name(), in_quotes(name));
  }
  return *architecture;
}

RopeKind read_rope_kind(const Keys& keys, bool has_factor) {
  const auto name = keys.file().find_string(keys.key("rope.scaling.type"));
  if (!name) return has_factor ? RopeKind::kLinear : RopeKind::kDefault;
  if (*name == "none") return RopeKind::kDefault;
  if (*name == "linear") return has_factor ? RopeKind::kLinear : RopeKind::kDefault;
  if (*name == "yarn") return RopeKind::kYarn;
  fail(ErrorCode::kUnsupported, "{}: {} {} is not supported (none, linear and yarn are)", keys.file().name(),
       keys.key("rope.scaling.type"), in_quotes(*name));
}

// llama3 scaling is not in the metadata but in the tensor rope_freqs.weight (Weights::rope_factors).
RopeConfig read_rope(const Keys& keys, uint32_t max_positions) {
  RopeConfig config;
  config.theta = keys.find_number("rope.freq_base", 1, kMaxTheta).value_or(config.theta);
  // Zero means no scaling; the older key holds the same number.
  auto factor = keys.find_number("rope.scaling.factor", 0, kMaxRopeFactor, true);
  if (!factor) factor = keys.find_number("rope.scale_linear", 0, kMaxRopeFactor, true);
  if (factor && *factor == 0) factor.reset();
  if (factor && *factor < 1) {
    invalid_file("{}: {} must be at least 1, found {}", keys.file().name(), keys.key("rope.scaling.factor"),
                 *factor);
  }
  config.kind = read_rope_kind(keys, factor.has_value());
  if (config.kind != RopeKind::kYarn) keys.refuse_unless("rope.scaling.attn_factor", 1);
  keys.refuse_unless("rope.scaling.yarn_log_multiplier", 0);
  keys.refuse_unless("rope.scaling.yarn_ext_factor", 1);
  keys.refuse_unless("rope.scaling.yarn_attn_factor", 1);
  if (config.kind == RopeKind::kDefault) return config;
  config.factor = factor.value_or(1);
  if (config.kind == RopeKind::kLinear) return config;

  config.original_max_positions =
      keys.find_uint("rope.scaling.original_context_length", 1, kMaxPositions).value_or(max_positions);
  config.beta_fast = keys.find_number("rope.scaling.yarn_beta_fast", 0, 1e9).value_or(config.beta_fast);
  config.beta_slow = keys.find_number("rope.scaling.yarn_beta_slow", 0, 1e9).value_or(config.beta_slow);
  if (const auto multiplier = keys.find_number("rope.scaling.attn_factor", 0, 1e9)) {
    config.attention_factor = *multiplier * (0.1 * std::log(config.factor) + 1.0);
  }
  return config;
}

void read_dimensions(const Keys& keys, ModelConfig& config) {
  config.n_layers = keys.get_uint("block_count", 1, kMaxLayers);
  config.d_model = keys.get_uint("embedding_length", 1, kMaxWidth);
  config.n_heads = keys.get_uint("attention.head_count", 1, kMaxHeads);
  config.n_kv_heads = keys.find_uint("attention.head_count_kv", 1, kMaxHeads).value_or(config.n_heads);
  config.d_ff = keys.get_uint("feed_forward_length", 1, kMaxWidth);
  config.max_positions = keys.get_uint("context_length", 1, kMaxPositions);
  const auto head_dim = keys.find_uint("attention.key_length", 1, kMaxHeadDim);
  if (!head_dim && config.d_model % config.n_heads != 0) {
    invalid_file("{}: {} {} is not a multiple of {} {}", keys.file().name(), keys.key("embedding_length"),
                 config.d_model, keys.key("attention.head_count"), config.n_heads);
  }
  config.head_dim = head_dim.value_or(config.d_model / config.n_heads);
  keys.refuse_unless("attention.value_length", config.head_dim);
  keys.refuse_unless("rope.dimension_count", config.head_dim);
  keys.refuse_unless("attention.sliding_window", 0);
  keys.refuse_unless("expert_count", 0);
}

// The vocabulary is as large as the embedding has rows; the tokenizer's must fit into it.
uint32_t read_vocab_size(const GgufFile& file) {
  const TensorView* embedding = find_tensor(file, "token_embd.weight");
  if (embedding == nullptr) invalid_file("{}: tensor \"token_embd.weight\" is missing", file.name());
  const uint64_t n_rows = embedding->shape.front();
  if (embedding->shape.size() != 2 || n_rows > kMaxVocab) {
    invalid_file("{}: tensor \"token_embd.weight\" must be a matrix of at most {} rows", file.name(),
                 kMaxVocab);
  }
  if (file.find("tokenizer.ggml.tokens") != nullptr) {
    const size_t n_tokens = file.get_strings("tokenizer.ggml.tokens").size();
    if (n_tokens > n_rows) {
      invalid_file(
          "{}: tokenizer.ggml.tokens has {} tokens, the embedding \"token_embd.weight\" only {} rows",
          file.name(), n_tokens, n_rows);
    }
  }
  return static_cast<uint32_t>(n_rows);
}

std::string read_name(const GgufFile& file, Architecture architecture) {
  std::string name = clean_model_name(file.find_string("general.name").value_or(""));
  if (name.empty()) name = clean_model_name(std::filesystem::path(file.name()).stem().string());
  if (name.empty()) name = architecture_name(architecture);
  return name;
}

}  // namespace

ModelConfig read_gguf_config(const GgufFile& file) {
  ModelConfig config;
  config.architecture = read_architecture(file);
  config.name = read_name(file, config.architecture);
  const Keys keys(file, config.architecture);
  read_dimensions(keys, config);
  config.vocab_size = read_vocab_size(file);
  const auto eps = keys.find_number("attention.layer_norm_rms_epsilon", kMinEps, 1, true);
  if (!eps) invalid_file("{}: {} is missing", file.name(), keys.key("attention.layer_norm_rms_epsilon"));
  config.rms_norm_eps = static_cast<float>(*eps);
  config.tied_embeddings = find_tensor(file, "output.weight") == nullptr;
  config.qkv_bias =
      config.architecture == Architecture::kQwen2 || find_tensor(file, "blk.0.attn_q.bias") != nullptr;
  config.output_bias = find_tensor(file, "blk.0.attn_output.bias") != nullptr;
  config.mlp_bias = find_tensor(file, "blk.0.ffn_gate.bias") != nullptr;
  config.qk_norm = config.architecture == Architecture::kQwen3;
  config.interleaved_rope = config.architecture == Architecture::kLlama;
  config.rope = read_rope(keys, config.max_positions);
  check_config(config, file.name());
  return config;
}

GenerationDefaults read_gguf_generation_defaults(const GgufFile& file) {
  GenerationDefaults defaults;
  for (const std::string_view key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    const auto id = file.find_uint(key);
    // 2^32 - 1 is how a missing token is written.
    if (!id || *id == std::numeric_limits<uint32_t>::max()) continue;
    if (*id > std::numeric_limits<int32_t>::max())
      invalid_file("{}: {} {} is no token id", file.name(), key, *id);
    const auto token = static_cast<int32_t>(*id);
    if (std::find(defaults.eos_ids.begin(), defaults.eos_ids.end(), token) == defaults.eos_ids.end()) {
      defaults.eos_ids.push_back(token);
    }
  }
  return defaults;
}

}  // namespace qwick
