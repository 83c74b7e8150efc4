// Tiny models of both kinds put together in memory by tests. Tests only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/test_files.h"
#include "model/model.h"

namespace qwick::testing {

// d_model 8, 2 heads of 6 over 1 key/value head, d_ff 16, 10 tokens, 2 layers.
struct HfFiles {
  Json config;
  std::string config_text;                               // instead of config where not empty
  std::string generation_text;                           // generation_config.json where not empty
  std::map<std::string, std::vector<uint64_t>> tensors;  // BF16, zeros

  explicit HfFiles(const std::string& architecture) {
    config = {{"model_type", architecture},   {"hidden_size", 8},         {"num_hidden_layers", 2},
              {"num_attention_heads", 2},     {"num_key_value_heads", 1}, {"head_dim", 6},
              {"intermediate_size", 16},      {"vocab_size", 10},         {"max_position_embeddings", 64},
              {"tie_word_embeddings", false}, {"eos_token_id", 9}};
    tensors = {
        {"model.embed_tokens.weight", {10, 8}}, {"model.norm.weight", {8}}, {"lm_head.weight", {10, 8}}};
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
      tensors[layer + "input_layernorm.weight"] = {8};
      tensors[layer + "self_attn.q_proj.weight"] = {12, 8};
      tensors[layer + "self_attn.k_proj.weight"] = {6, 8};
      tensors[layer + "self_attn.v_proj.weight"] = {6, 8};
      tensors[layer + "self_attn.o_proj.weight"] = {8, 12};
      tensors[layer + "post_attention_layernorm.weight"] = {8};
      tensors[layer + "mlp.gate_proj.weight"] = {16, 8};
      tensors[layer + "mlp.up_proj.weight"] = {16, 8};
      tensors[layer + "mlp.down_proj.weight"] = {8, 16};
      if (architecture == "qwen3") {
        tensors[layer + "self_attn.q_norm.weight"] = {6};
        tensors[layer + "self_attn.k_norm.weight"] = {6};
      }
      if (architecture == "qwen2") {
        tensors[layer + "self_attn.q_proj.bias"] = {12};
        tensors[layer + "self_attn.k_proj.bias"] = {6};
        tensors[layer + "self_attn.v_proj.bias"] = {6};
      }
    }
  }

  // The set refers to this object.
  FileSet set() {
    texts_["config.json"] = config_text.empty() ? config.dump() : config_text;
    if (!generation_text.empty()) texts_["generation_config.json"] = generation_text;
    Json header = Json::object();
    uint64_t at = 0;
    for (const auto& [name, shape] : tensors) {
      uint64_t end = at + 2;
      for (const uint64_t dim : shape) end = at + (end - at) * dim;
      header[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {at, end}}};
      at = end;
    }
    texts_["model.safetensors"] = safetensors_bytes(header.dump(), at);
    std::map<std::string, std::span<const std::byte>, std::less<>> files;
    for (const auto& [name, text] : texts_) files[name] = std::as_bytes(std::span(text));
    return FileSet::embedded("tiny-model", files);
  }

 private:
  std::map<std::string, std::string> texts_;
};

// The same shape; head_dim 4 where the architecture has it from d_model.
inline GgufBuilder gguf_builder(const std::string& architecture, bool tied = true) {
  GgufBuilder builder;
  builder.text("general.architecture", architecture).text("general.name", "Tiny");
  const auto key = [&](const char* name) { return architecture + "." + name; };
  builder.u32(key("block_count"), 2).u32(key("context_length"), 64).u32(key("embedding_length"), 8);
  builder.u32(key("feed_forward_length"), 16).u32(key("attention.head_count"), 2);
  builder.u32(key("attention.head_count_kv"), 1).f32(key("attention.layer_norm_rms_epsilon"), 1e-5F);
  uint64_t head_dim = 4;
  if (architecture == "qwen3") {
    head_dim = 6;
    builder.u32(key("attention.key_length"), 6).u32(key("attention.value_length"), 6);
  }
  builder.tensor("token_embd.weight", {8, 10}).tensor("output_norm.weight", {8});
  if (!tied) builder.tensor("output.weight", {8, 10});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    builder.tensor(layer + "attn_norm.weight", {8}).tensor(layer + "attn_q.weight", {8, 2 * head_dim});
    builder.tensor(layer + "attn_k.weight", {8, head_dim}).tensor(layer + "attn_v.weight", {8, head_dim});
    builder.tensor(layer + "attn_output.weight", {2 * head_dim, 8}).tensor(layer + "ffn_norm.weight", {8});
    builder.tensor(layer + "ffn_gate.weight", {8, 16}).tensor(layer + "ffn_up.weight", {8, 16});
    builder.tensor(layer + "ffn_down.weight", {16, 8});
    if (architecture == "qwen3") {
      builder.tensor(layer + "attn_q_norm.weight", {6}).tensor(layer + "attn_k_norm.weight", {6});
    }
    if (architecture == "qwen2") {
      builder.tensor(layer + "attn_q.bias", {8}).tensor(layer + "attn_k.bias", {4});
      builder.tensor(layer + "attn_v.bias", {4});
    }
  }
  return builder;
}

// `bytes` must outlive it.
inline std::shared_ptr<const GgufFile> open_gguf(const std::string& bytes) {
  return std::make_shared<const GgufFile>(GgufFile::open(memory_file("tiny.gguf", bytes)));
}

}  // namespace qwick::testing
