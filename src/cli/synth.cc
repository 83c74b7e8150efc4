// `qwick synth`: a model of random weights in the exact shape of a real one, as a Hugging Face
// directory. What a machine can do with the real model, it can be measured on this one.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "base/numeric.h"
#include "base/random.h"
#include "cli/options.h"
#include "format/safetensors_writer.h"
#include "text/chat_template.h"

namespace qwick::cli {
namespace {

struct Shape {
  std::string_view name;
  uint32_t n_layers, d_model, n_heads, n_kv_heads, head_dim, d_ff;
};
constexpr Shape kShapes[] = {
    {"qwen3-0.6b", 28, 1024, 16, 8, 128, 3072},
    {"qwen3-1.7b", 28, 2048, 16, 8, 128, 6144},
};
constexpr uint32_t kVocabSize = 151936;  // rows of the embedding
constexpr uint32_t kFirstAddedId = 151643;
constexpr std::string_view kAddedTokens[] = {  // as in Qwen3, from kFirstAddedId on
    "<|endoftext|>",  "<|im_start|>",   "<|im_end|>",      "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>",  "<|box_end|>",    "<|quad_start|>",  "<|quad_end|>",         "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",   "<|video_pad|>",        "<tool_call>",
    "</tool_call>",   "<|fim_prefix|>", "<|fim_middle|>",  "<|fim_suffix|>",       "<|fim_pad|>",
    "<|repo_name|>",  "<|file_sep|>",   "<tool_response>", "</tool_response>",     "<think>",
    "</think>"};

// Nearly normal: the sum of four uniform numbers, scaled to mean 0 and deviation 1.
float normal(uint64_t seed, uint64_t index) {
  const uint64_t bits = mix_bits(seed + (index + 1) * kGoldenGamma);
  const auto sum =
      static_cast<float>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + (bits >> 48));
  return (sum / 65535.0F - 2.0F) * std::sqrt(3.0F);
}

std::vector<TensorSpec> tensor_list(const Shape& shape) {
  std::vector<TensorSpec> tensors;
  const auto add = [&](std::string name, std::vector<uint64_t> dims) {
    tensors.push_back({std::move(name), DType::kBF16, std::move(dims)});
  };
  const uint64_t q_dim = uint64_t{shape.n_heads} * shape.head_dim;
  const uint64_t kv_dim = uint64_t{shape.n_kv_heads} * shape.head_dim;
  add("model.embed_tokens.weight", {kVocabSize, shape.d_model});
  for (uint32_t layer = 0; layer < shape.n_layers; ++layer) {
    const std::string at = fmt::format("model.layers.{}.", layer);
    add(at + "input_layernorm.weight", {shape.d_model});
    add(at + "self_attn.q_proj.weight", {q_dim, shape.d_model});
    add(at + "self_attn.k_proj.weight", {kv_dim, shape.d_model});
    add(at + "self_attn.v_proj.weight", {kv_dim, shape.d_model});
    add(at + "self_attn.o_proj.weight", {shape.d_model, q_dim});
    add(at + "self_attn.q_norm.weight", {shape.head_dim});
    add(at + "self_attn.k_norm.weight", {shape.head_dim});
    add(at + "post_attention_layernorm.weight", {shape.d_model});
    add(at + "mlp.gate_proj.weight", {shape.d_ff, shape.d_model});
    add(at + "mlp.up_proj.weight", {shape.d_ff, shape.d_model});
    add(at + "mlp.down_proj.weight", {shape.d_model, shape.d_ff});
  }
  add("model.norm.weight", {shape.d_model});
  return tensors;
}

// Every tensor keeps activations near 1; norms scatter around 1.
void write_weights(const Shape& shape, const std::filesystem::path& path, uint64_t seed) {
  const auto tensors = tensor_list(shape);
  SafetensorsWriter writer(path, tensors);
  std::vector<uint16_t> buffer;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<uint64_t>& dims = tensors[i].shape;
    const bool is_vector = dims.size() == 1;
    const bool is_embedding = i == 0;
    const float mean = is_vector ? 1.0F : 0.0F;
    const float deviation = is_vector      ? 0.1F
                            : is_embedding ? 0.05F
                                           : 1.0F / std::sqrt(static_cast<float>(dims[1]));
    const uint64_t tensor_seed = mix_bits(seed * kGoldenGamma + i + 1);
    const uint64_t row_length = dims.back();
    buffer.resize(row_length);
    for (uint64_t row = 0; row < (is_vector ? 1 : dims[0]); ++row) {
      for (uint64_t j = 0; j < row_length; ++j) {
        buffer[j] = f32_to_bf16(mean + deviation * normal(tensor_seed, row * row_length + j));
      }
      writer.write(std::as_bytes(std::span(buffer)));
    }
  }
  writer.finish();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail(ErrorCode::kIo, "{}: can't write it", path.string());
}

Json config_json(const Shape& shape) {
  return {{"architectures", Json::array({"Qwen3ForCausalLM"})},
          {"model_type", "qwen3"},
          {"hidden_size", shape.d_model},
          {"num_hidden_layers", shape.n_layers},
          {"num_attention_heads", shape.n_heads},
          {"num_key_value_heads", shape.n_kv_heads},
          {"head_dim", shape.head_dim},
          {"intermediate_size", shape.d_ff},
          {"vocab_size", kVocabSize},
          {"max_position_embeddings", 40960},
          {"rope_theta", 1000000},
          {"rope_scaling", nullptr},
          {"rms_norm_eps", 1e-6},
          {"hidden_act", "silu"},
          {"attention_bias", false},
          {"tie_word_embeddings", true},
          {"use_sliding_window", false},
          {"bos_token_id", kFirstAddedId},
          {"eos_token_id", kFirstAddedId + 2},
          {"torch_dtype", "bfloat16"}};
}

// The 256 bytes in the printable spelling of byte-level BPE: bytes that have no printable Latin-1
// character of their own stand as U+0100 and up.
std::string byte_spelling(int byte) {
  const auto is_plain = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  int code_point = byte;
  if (!is_plain(byte)) {
    code_point = 256;
    for (int b = 0; b < byte; ++b) code_point += is_plain(b) ? 0 : 1;
  }
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3F))};
}

// Every byte a token, the rest of the vocabulary numbered stand-ins: any id has a text.
Json tokenizer_json() {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[byte_spelling(byte)] = byte;
  Json added = Json::array();
  uint32_t id = kFirstAddedId;
  for (const std::string_view token : kAddedTokens) {
    added.push_back({{"id", id++},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", token.starts_with("<|")}});
  }
  const Json pattern{
      {"Regex",
       R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
  const Json byte_level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json split{{"type", "Split"}, {"pattern", pattern}, {"behavior", "Isolated"}, {"invert", false}};
  return {
      {"version", "1.0"},
      {"added_tokens", added},
      {"normalizer", {{"type", "NFC"}}},
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}}},
      {"decoder", byte_level},
      {"model", {{"type", "BPE"}, {"ignore_merges", false}, {"vocab", vocab}, {"merges", Json::array()}}}};
}

void write_tokenizer(const std::filesystem::path& out) {
  // Appended as text: a quarter of a million JSON insertions would each search for their key.
  std::string text = tokenizer_json().dump();
  std::string numbered;
  for (uint32_t id = 256; id < kFirstAddedId; ++id) numbered += fmt::format(",\"[{}]\":{}", id, id);
  const size_t end_of_vocab = text.find("},\"merges\":[]");
  text.insert(end_of_vocab, numbered);
  write_file(out / "tokenizer.json", text);
  write_file(
      out / "tokenizer_config.json",
      Json{{"bos_token", nullptr}, {"eos_token", "<|im_end|>"}, {"pad_token", "<|endoftext|>"}}.dump(2));
  write_file(out / "chat_template.jinja", ChatTemplate::builtin("qwen3").source());
}

void copy_tokenizer(const std::filesystem::path& from, const std::filesystem::path& out) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    std::error_code error;
    if (std::string_view(name) != "tokenizer.json" && !std::filesystem::exists(from / name, error)) continue;
    std::filesystem::copy_file(from / name, out / name, std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) fail(ErrorCode::kIo, "{}: {}", (from / name).string(), error.message());
  }
}

}  // namespace

int synth(const Options& options) {
  Shape shape{};
  for (const Shape& known : kShapes) {
    if (known.name == options.shape) shape = known;
  }
  if (shape.name.empty()) {
    fail(ErrorCode::kInvalidArgument, "SHAPE {}: not known; there are qwen3-0.6b and qwen3-1.7b",
         options.shape);
  }
  if (options.layers > 0) shape.n_layers = options.layers;

  const std::filesystem::path out(options.out_dir);
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) fail(ErrorCode::kIo, "{}: {}", options.out_dir, error.message());
  if (options.tokenizer.empty()) {
    write_tokenizer(out);
  } else {
    copy_tokenizer(options.tokenizer, out);
  }
  write_file(out / "config.json", config_json(shape).dump(2) + "\n");
  write_file(out / "generation_config.json", Json{{"eos_token_id", {kFirstAddedId + 2, kFirstAddedId}},
                                                  {"pad_token_id", kFirstAddedId},
                                                  {"do_sample", true},
                                                  {"temperature", 0.6},
                                                  {"top_k", 20},
                                                  {"top_p", 0.95}}
                                                     .dump(2) +
                                                 "\n");
  write_weights(shape, out / "model.safetensors", options.seed);
  fmt::print("{}: {} with random weights, {} layers\n", options.out_dir, shape.name, shape.n_layers);
  return 0;
}

}  // namespace qwick::cli
