// Model::open: the tensors of every architecture under their roles, files with tensors missing, in
// excess or misshapen, and the real models that other tests use.
#include "model/model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "model/test_models.h"

namespace qwick {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::gguf_builder;
using testing::GgufBuilder;
using testing::HfFiles;

std::string refusal(HfFiles& files, ErrorCode code = ErrorCode::kInvalidFile) {
  return error_of([&] { Model::open(files.set()); }, code);
}

std::string refusal(const GgufBuilder& builder, ErrorCode code = ErrorCode::kInvalidFile) {
  const std::string bytes = builder.build();
  return error_of([&] { Model::open(testing::open_gguf(bytes)); }, code);
}

TEST(Model, HuggingFace) {
  for (const std::string architecture : {"qwen3", "qwen2", "llama"}) {
    HfFiles files(architecture);
    const Model model = Model::open(files.set());
    const Weights& weights = model.weights();
    EXPECT_EQ(architecture_name(model.config().architecture), architecture);
    EXPECT_EQ(model.tensors().size(), files.tensors.size());
    EXPECT_EQ(weights.lm_head.name, "lm_head.weight");
    EXPECT_EQ(model.generation_defaults().eos_ids, std::vector<int32_t>{9});
    ASSERT_EQ(weights.layers.size(), 2U);
    const LayerWeights& layer = weights.layers[1];
    EXPECT_EQ(layer.wq.name, "model.layers.1.self_attn.q_proj.weight");
    EXPECT_EQ(layer.w_down.shape, (std::vector<uint64_t>{8, 16}));
    EXPECT_EQ(layer.mlp_norm.name, "model.layers.1.post_attention_layernorm.weight");
    EXPECT_EQ(layer.bq.data.empty(), architecture != "qwen2");
    EXPECT_EQ(layer.q_norm.data.empty(), architecture != "qwen3");
    EXPECT_TRUE(layer.bo.data.empty() && layer.b_up.data.empty() && weights.rope_factors.data.empty());
  }
}

TEST(Model, HuggingFaceBiases) {
  HfFiles files("llama");
  files.config["attention_bias"] = files.config["mlp_bias"] = true;
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    files.tensors[layer + "self_attn.q_proj.bias"] = {12};
    files.tensors[layer + "self_attn.k_proj.bias"] = files.tensors[layer + "self_attn.v_proj.bias"] = {6};
    files.tensors[layer + "self_attn.o_proj.bias"] = files.tensors[layer + "mlp.down_proj.bias"] = {8};
    files.tensors[layer + "mlp.gate_proj.bias"] = files.tensors[layer + "mlp.up_proj.bias"] = {16};
  }
  const Model model = Model::open(files.set());
  EXPECT_EQ(model.weights().layers[0].bo.name, "model.layers.0.self_attn.o_proj.bias");
  EXPECT_EQ(model.weights().layers[1].b_down.n_elements(), 8U);
}

TEST(Model, TiedEmbeddingsAndHarmlessExtras) {
  HfFiles files("llama");
  files.config["tie_word_embeddings"] = true;
  files.config["eos_token_id"] = {9, 10, 100000};
  files.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {3};
  const Model beside = Model::open(files.set());  // lm_head.weight is there as well
  EXPECT_EQ(beside.weights().lm_head.name, "model.embed_tokens.weight");
  EXPECT_EQ(beside.generation_defaults().eos_ids, std::vector<int32_t>{9});
  files.tensors.erase("lm_head.weight");
  EXPECT_EQ(Model::open(files.set()).weights().lm_head.name, "model.embed_tokens.weight");
}

TEST(Model, SavedWithoutItsHead) {
  HfFiles files("qwen3");
  files.config["tie_word_embeddings"] = true;
  std::map<std::string, std::vector<uint64_t>> tensors;
  for (const auto& [name, shape] : files.tensors) {
    if (name.starts_with("model.")) tensors[name.substr(6)] = shape;
  }
  files.tensors = tensors;
  EXPECT_EQ(Model::open(files.set()).weights().layers[0].wv.name, "layers.0.self_attn.v_proj.weight");
}

TEST(Model, HuggingFaceRefusals) {
  HfFiles files("qwen3");
  files.tensors.erase("model.layers.1.self_attn.q_norm.weight");
  EXPECT_EQ(refusal(files), "tiny-model: a tensor is missing: \"model.layers.1.self_attn.q_norm.weight\"");
  files.config["num_hidden_layers"] = 3;
  files.tensors["extra\n"] = {1};
  EXPECT_EQ(
      refusal(files),
      "tiny-model: tensors are missing: \"model.layers.1.self_attn.q_norm.weight\", "
      "\"model.layers.2.input_layernorm.weight\", \"model.layers.2.self_attn.q_proj.weight\" and 9 more; "
      "unexpected: \"extra\\x0a\"");
  files = HfFiles("qwen3");
  files.config["num_hidden_layers"] = 1;
  expect_contains(refusal(files),
                  "tensors that this architecture does not have: "
                  "\"model.layers.1.input_layernorm.weight\", \"model.layers.1.mlp.down_proj.weight\"");
  files = HfFiles("qwen3");
  files.tensors["model.layers.0.self_attn.k_proj.bias"] = {6};
  EXPECT_EQ(
      refusal(files),
      "tiny-model: a tensor that this architecture does not have: \"model.layers.0.self_attn.k_proj.bias\"");
  files = HfFiles("qwen3");
  files.tensors.erase("lm_head.weight");
  EXPECT_EQ(refusal(files), "tiny-model: a tensor is missing: \"lm_head.weight\"");
  files = HfFiles("qwen3");
  files.config["vocab_size"] = 11;
  EXPECT_EQ(refusal(files),
            "tiny-model: tensor \"model.embed_tokens.weight\" has shape [10, 8], the configuration asks for "
            "[11, 8]");
}

TEST(Model, Gguf) {
  for (const std::string architecture : {"qwen3", "qwen2", "llama"}) {
    const std::string bytes = gguf_builder(architecture, architecture != "qwen2").build();
    const Model model = Model::open(testing::open_gguf(bytes));
    EXPECT_EQ(architecture_name(model.config().architecture), architecture);
    EXPECT_EQ(model.weights().lm_head.name, architecture == "qwen2" ? "output.weight" : "token_embd.weight");
    EXPECT_EQ(model.weights().layers[1].w_gate.name, "blk.1.ffn_gate.weight");
    EXPECT_EQ(model.weights().layers[1].bk.data.empty(), architecture != "qwen2");
  }
}

TEST(Model, GgufRefusals) {
  EXPECT_EQ(refusal(gguf_builder("llama").u32("llama.attention.key_length", 6)),
            "tiny.gguf: tensor \"blk.0.attn_q.weight\" has shape [8, 8], the configuration asks for [12, 8]");
  EXPECT_EQ(refusal(gguf_builder("llama").tensor("blk.0.attn_q.scale", {1})),
            "tiny.gguf: a tensor that this architecture does not have: \"blk.0.attn_q.scale\"");
  GgufBuilder builder = gguf_builder("llama");
  builder.tensors.pop_back();
  EXPECT_EQ(refusal(builder), "tiny.gguf: a tensor is missing: \"blk.1.ffn_down.weight\"");
  // A vector in blocks.
  builder = GgufBuilder();
  builder.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 8);
  builder.u32("llama.embedding_length", 32)
      .u32("llama.feed_forward_length", 32)
      .u32("llama.attention.head_count", 1);
  builder.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F).tensor("token_embd.weight", {32, 4});
  builder.tensors.push_back({"output_norm.weight", 8, {32}, 34, {}});
  EXPECT_EQ(
      refusal(builder, ErrorCode::kUnsupported),
      "tiny.gguf: tensor \"output_norm.weight\" is a vector of type Q8_0 (F32, F16 and BF16 are supported)");
}

TEST(Model, GgufRopeFactors) {
  GgufBuilder builder = gguf_builder("llama").tensor("rope_freqs.weight", {2});
  std::string bytes = builder.build();
  const auto set = [&](float a, float b) {  // the tensor is the last: 8 bytes and 24 of padding
    const std::array<float, 2> factors = {a, b};
    std::memcpy(bytes.data() + bytes.size() - 32, factors.data(), 8);
  };
  set(1, 8);
  EXPECT_EQ(Model::open(testing::open_gguf(bytes)).weights().rope_factors.n_elements(), 2U);
  for (const float bad :
       {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    set(1, bad);
    expect_contains(error_of([&] { Model::open(testing::open_gguf(bytes)); }),
                    "tiny.gguf: tensor \"rope_freqs.weight\": element 1 is ");
  }
}

// The seeds of the fuzz targets come from other writers of the formats: the Python packages gguf,
// safetensors and json (tools/make_seeds_models.py).
TEST(Model, FilesOfOtherWriters) {
  const std::filesystem::path corpus = std::filesystem::path(QWICK_SOURCE_DIR) / "tests/fuzz/corpus";
  for (const std::string name : {"qwen3", "qwen2", "llama", "llama_q5_1"}) {
    const Model model = Model::open(std::make_shared<const GgufFile>(
        GgufFile::open(MappedFile::open(corpus / "gguf" / (name + ".gguf")))));
    EXPECT_TRUE(name.starts_with(architecture_name(model.config().architecture)));
    EXPECT_EQ(model.config().name, "Tiny");
    EXPECT_EQ(model.generation_defaults().eos_ids, std::vector<int32_t>{2});
    EXPECT_EQ(model.weights().rope_factors.data.empty(), !name.starts_with("llama"));
    if (name == "llama") {
      EXPECT_EQ(model.weights().layers[0].w_down.dtype, DType::kQ4_0);
    }
    if (name == "qwen2") {
      EXPECT_EQ(model.config().rope.kind, RopeKind::kYarn);
    }
  }
  const Safetensors three =
      Safetensors::open_file(MappedFile::open(corpus / "safetensors/three.safetensors"));
  EXPECT_EQ(three.tensors().size(), 3U);
  for (const char* name : {"transformers4", "transformers5", "llama3", "linear"}) {
    HfFiles files("qwen3");
    files.config_text = MappedFile::open(corpus / "config" / (std::string(name) + ".json")).text();
    EXPECT_EQ(read_hf_config(files.set()).d_model, 8U) << name;
  }
}

std::filesystem::path test_models() {
  if (const char* path = std::getenv("QWICK_TEST_MODELS")) return path;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/qwick/test-models";
}

#define QWICK_REAL_MODEL(path, file)                         \
  const std::filesystem::path path = test_models() / (file); \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: run make test-models"

Model open_gguf(const std::filesystem::path& path) {
  return Model::open(std::make_shared<const GgufFile>(GgufFile::open(MappedFile::open(path))));
}

TEST(RealModel, SmolLm2) {
  QWICK_REAL_MODEL(path, "smollm2-135m-instruct-q4_1.gguf");
  const Model model = open_gguf(path);
  const ModelConfig& config = model.config();
  EXPECT_EQ(config.architecture, Architecture::kLlama);
  EXPECT_EQ(config.name, "Smollm2 135M 8k Lc100K Mix1 Ep2");
  EXPECT_EQ(config.n_layers, 30U);
  EXPECT_EQ(config.d_model, 576U);
  EXPECT_EQ(config.n_heads, 9U);
  EXPECT_EQ(config.n_kv_heads, 3U);
  EXPECT_EQ(config.head_dim, 64U);
  EXPECT_EQ(config.d_ff, 1536U);
  EXPECT_EQ(config.vocab_size, 49152U);
  EXPECT_EQ(config.max_positions, 8192U);
  EXPECT_EQ(config.rms_norm_eps, 1e-5F);
  EXPECT_EQ(config.rope.theta, 100000.0);
  EXPECT_TRUE(config.tied_embeddings && config.interleaved_rope && !config.qkv_bias && !config.qk_norm);
  EXPECT_EQ(model.generation_defaults().eos_ids, std::vector<int32_t>{2});
  EXPECT_EQ(model.tensors().size(), 272U);
  EXPECT_EQ(model.weights().layers[29].w_down.dtype, DType::kQ4_1);
  EXPECT_EQ(model.weights().lm_head.data.data(), model.weights().embedding.data.data());
}

TEST(RealModel, Qwen25Coder) {
  QWICK_REAL_MODEL(path, "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf");
  const Model model = open_gguf(path);
  const ModelConfig& config = model.config();
  EXPECT_EQ(config.architecture, Architecture::kQwen2);
  EXPECT_EQ(config.n_layers, 24U);
  EXPECT_EQ(config.n_kv_heads, 2U);
  EXPECT_EQ(config.head_dim, 64U);
  EXPECT_EQ(config.vocab_size, 151936U);
  EXPECT_EQ(config.rope.theta, 1e6);
  EXPECT_TRUE(!config.tied_embeddings && !config.interleaved_rope && config.qkv_bias && !config.output_bias);
  EXPECT_EQ(model.generation_defaults().eos_ids, std::vector<int32_t>{151645});
  EXPECT_EQ(model.weights().layers[0].bq.shape, std::vector<uint64_t>{896});
  EXPECT_EQ(model.weights().lm_head.dtype, DType::kQ8_0);
}

}  // namespace
}  // namespace qwick
