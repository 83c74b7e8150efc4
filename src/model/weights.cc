#include "model/weights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/numeric.h"
#include "format/message.h"

namespace qwick {
namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (const uint64_t dim : shape) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", dim);
  return text + "]";
}

// "a", "b", "c" and 5 more.
std::string list_text(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

// Takes tensors out of the file's list one by one; what is asked for and not there, and what is left
// at the end, is reported together.
class Finder {
 public:
  Finder(const std::vector<TensorView>& tensors, std::string_view source) : source_(source) {
    for (const TensorView& tensor : tensors) unused_.emplace(tensor.name, &tensor);
  }

  bool has(const std::string& name) const { return unused_.contains(name); }
  void drop(const std::string& name) { unused_.erase(name); }

  // An empty view when it is missing.
  TensorView take(const std::string& name, const std::vector<uint64_t>& shape) {
    const auto found = unused_.find(name);
    if (found == unused_.end()) {
      missing_.push_back(name);
      return {};
    }
    const TensorView& tensor = *found->second;
    if (tensor.shape != shape) {
      invalid_file("{}: tensor {} has shape {}, the configuration asks for {}", source_, in_quotes(name),
                   shape_text(tensor.shape), shape_text(shape));
    }
    const bool plain = dtype_info(tensor.dtype).block_size == 1;
    if (shape.size() == 1 && !plain) {
      fail(ErrorCode::kUnsupported, "{}: tensor {} is a vector of type {} (F32, F16 and BF16 are supported)",
           source_, in_quotes(name), dtype_info(tensor.dtype).name);
    }
    unused_.erase(found);
    return tensor;
  }

  void finish() {
    if (!missing_.empty()) {
      invalid_file("{}: {} missing: {}{}", source_, missing_.size() == 1 ? "a tensor is" : "tensors are",
                   list_text(missing_),
                   unexpected().empty() ? "" : "; unexpected: " + list_text(unexpected()));
    }
    if (const auto names = unexpected(); !names.empty()) {
      invalid_file("{}: {} this architecture does not have: {}", source_,
                   names.size() == 1 ? "a tensor that" : "tensors that", list_text(names));
    }
  }

 private:
  static bool is_superfluous(std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); }

  std::vector<std::string> unexpected() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : unused_) {
      if (!is_superfluous(name)) names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string_view source_;
  std::unordered_map<std::string_view, const TensorView*> unused_;
  std::vector<std::string> missing_;
};

// What the roles are called; the prefix of a layer's tensors comes before.
struct Names {
  std::string_view attn_norm, q, k, v, o, q_norm, k_norm, mlp_norm, gate, up, down;
};
constexpr Names kHuggingFaceNames = {
    "input_layernorm",  "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm", "post_attention_layernorm",
    "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
constexpr Names kGgufNames = {"attn_norm",   "attn_q",   "attn_k",   "attn_v", "attn_output", "attn_q_norm",
                              "attn_k_norm", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"};

LayerWeights find_layer(Finder& finder, const ModelConfig& config, const Names& names,
                        const std::string& prefix) {
  const auto weight = [&](std::string_view name, const std::vector<uint64_t>& shape) {
    return finder.take(prefix + std::string(name) + ".weight", shape);
  };
  const auto bias = [&](bool present, std::string_view name, uint64_t n) {
    return present ? finder.take(prefix + std::string(name) + ".bias", {n}) : TensorView{};
  };
  const uint64_t d_model = config.d_model;
  const uint64_t q_dim = config.q_dim();
  const uint64_t kv_dim = config.kv_dim();
  const uint64_t d_ff = config.d_ff;
  LayerWeights layer;
  layer.attn_norm = weight(names.attn_norm, {d_model});
  layer.wq = weight(names.q, {q_dim, d_model});
  layer.wk = weight(names.k, {kv_dim, d_model});
  layer.wv = weight(names.v, {kv_dim, d_model});
  layer.bq = bias(config.qkv_bias, names.q, q_dim);
  layer.bk = bias(config.qkv_bias, names.k, kv_dim);
  layer.bv = bias(config.qkv_bias, names.v, kv_dim);
  if (config.qk_norm) {
    layer.q_norm = weight(names.q_norm, {config.head_dim});
    layer.k_norm = weight(names.k_norm, {config.head_dim});
  }
  layer.wo = weight(names.o, {d_model, q_dim});
  layer.bo = bias(config.output_bias, names.o, d_model);
  layer.mlp_norm = weight(names.mlp_norm, {d_model});
  layer.w_gate = weight(names.gate, {d_ff, d_model});
  layer.w_up = weight(names.up, {d_ff, d_model});
  layer.w_down = weight(names.down, {d_model, d_ff});
  layer.b_gate = bias(config.mlp_bias, names.gate, d_ff);
  layer.b_up = bias(config.mlp_bias, names.up, d_ff);
  layer.b_down = bias(config.mlp_bias, names.down, d_model);
  return layer;
}

// rope_freqs.weight: divisors of the frequencies.
TensorView find_rope_factors(Finder& finder, const ModelConfig& config, std::string_view source) {
  const std::string name = "rope_freqs.weight";
  if (!finder.has(name)) return {};
  TensorView factors = finder.take(name, {config.head_dim / 2});
  if (factors.dtype != DType::kF32) {
    fail(ErrorCode::kUnsupported, "{}: tensor \"{}\" has type {} (F32 is supported)", source, name,
         dtype_info(factors.dtype).name);
  }
  for (uint64_t i = 0; i < factors.n_elements(); ++i) {
    const auto factor = load<float>(factors.data.data() + 4 * i);
    if (!std::isfinite(factor) || factor <= 0) {
      invalid_file("{}: tensor \"{}\": element {} is {}, must be positive and finite", source, name, i,
                   factor);
    }
  }
  return factors;
}

}  // namespace

Weights find_weights(const ModelConfig& config, const std::vector<TensorView>& tensors, TensorNames names,
                     std::string_view source) {
  const bool gguf = names == TensorNames::kGguf;
  Finder finder(tensors, source);
  // A model saved without its head has no "model." before the names.
  const std::string model = finder.has("embed_tokens.weight") ? "" : "model.";
  const std::string head = gguf ? "output.weight" : "lm_head.weight";

  Weights weights;
  weights.embedding = finder.take(gguf ? "token_embd.weight" : model + "embed_tokens.weight",
                                  {config.vocab_size, config.d_model});
  weights.final_norm = finder.take(gguf ? "output_norm.weight" : model + "norm.weight", {config.d_model});
  if (config.tied_embeddings) {
    weights.lm_head = weights.embedding;
    finder.drop(head);
  } else {
    weights.lm_head = finder.take(head, {config.vocab_size, config.d_model});
  }
  if (gguf) weights.rope_factors = find_rope_factors(finder, config, source);
  for (uint32_t i = 0; i < config.n_layers; ++i) {
    weights.layers.push_back(
        find_layer(finder, config, gguf ? kGgufNames : kHuggingFaceNames,
                   gguf ? fmt::format("blk.{}.", i) : fmt::format("{}layers.{}.", model, i)));
  }
  finder.finish();
  return weights;
}

}  // namespace qwick
