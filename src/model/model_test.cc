// The real models that other tests use.
#include "model/model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace qwick {
namespace {

std::filesystem::path test_models() {
  if (const char* path = std::getenv("QWICK_TEST_MODELS")) return path;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/qwick/test-models";
}

#define QWICK_REAL_MODEL(path, file)                                    \
  const std::filesystem::path path = test_models() / (file);            \
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
