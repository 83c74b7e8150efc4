// The configuration in GGUF metadata; what is refused, and that the refusal names the file and the key.
#include <gtest/gtest.h>

#include <cmath>

#include "model/config.h"
#include "model/test_models.h"

namespace qwick {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::gguf_builder;
using testing::GgufBuilder;
using testing::open_gguf;

constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;

ModelConfig read_gguf(const GgufBuilder& builder) {
  const std::string bytes = builder.build();
  return read_gguf_config(*open_gguf(bytes));
}

std::string gguf_refusal(const GgufBuilder& builder, ErrorCode code = ErrorCode::kInvalidFile) {
  const std::string message = error_of([&] { read_gguf(builder); }, code);
  EXPECT_TRUE(message.starts_with("tiny.gguf: ")) << message;
  return message;
}

TEST(GgufConfig, EachArchitecture) {
  const ModelConfig qwen3 = read_gguf(gguf_builder("qwen3"));
  EXPECT_EQ(qwen3.name, "Tiny");
  EXPECT_EQ(qwen3.n_layers, 2U);
  EXPECT_EQ(qwen3.d_model, 8U);
  EXPECT_EQ(qwen3.head_dim, 6U);
  EXPECT_EQ(qwen3.n_kv_heads, 1U);
  EXPECT_EQ(qwen3.d_ff, 16U);
  EXPECT_EQ(qwen3.vocab_size, 10U);
  EXPECT_EQ(qwen3.max_positions, 64U);
  EXPECT_EQ(qwen3.rms_norm_eps, 1e-5F);
  EXPECT_EQ(qwen3.rope.theta, 10000.0);
  EXPECT_TRUE(qwen3.tied_embeddings && qwen3.qk_norm && !qwen3.qkv_bias && !qwen3.interleaved_rope);
  const ModelConfig qwen2 = read_gguf(gguf_builder("qwen2", false));
  EXPECT_EQ(qwen2.head_dim, 4U);
  EXPECT_TRUE(!qwen2.tied_embeddings && !qwen2.qk_norm && qwen2.qkv_bias && !qwen2.interleaved_rope);
  const ModelConfig llama = read_gguf(gguf_builder("llama").tensor("blk.0.attn_q.bias", {8}));
  EXPECT_TRUE(llama.tied_embeddings && llama.qkv_bias && !llama.output_bias && llama.interleaved_rope);
}

TEST(GgufConfig, RopeScaling) {
  const RopeConfig linear = read_gguf(gguf_builder("qwen2")
                                          .f32("qwen2.rope.freq_base", 1e6F)
                                          .text("qwen2.rope.scaling.type", "linear")
                                          .f32("qwen2.rope.scaling.factor", 4))
                                .rope;
  EXPECT_EQ(linear.kind, RopeKind::kLinear);
  EXPECT_EQ(linear.factor, 4.0);
  EXPECT_EQ(linear.theta, 1e6);
  EXPECT_EQ(read_gguf(gguf_builder("llama").f32("llama.rope.scale_linear", 2)).rope.kind, RopeKind::kLinear);
  EXPECT_EQ(read_gguf(gguf_builder("llama").f32("llama.rope.scaling.factor", 0)).rope.kind,
            RopeKind::kDefault);
  EXPECT_EQ(
      read_gguf(
          gguf_builder("llama").text("llama.rope.scaling.type", "none").f32("llama.rope.scaling.factor", 2))
          .rope.kind,
      RopeKind::kDefault);
  GgufBuilder builder = gguf_builder("qwen3");
  builder.text("qwen3.rope.scaling.type", "yarn").f32("qwen3.rope.scaling.factor", 4);
  EXPECT_EQ(read_gguf(builder).rope.original_max_positions, 64U);
  EXPECT_FALSE(read_gguf(builder).rope.attention_factor);
  builder.u32("qwen3.rope.scaling.original_context_length", 16).f32("qwen3.rope.scaling.attn_factor", 0.5F);
  const RopeConfig yarn = read_gguf(builder).rope;
  EXPECT_EQ(yarn.kind, RopeKind::kYarn);
  EXPECT_EQ(yarn.original_max_positions, 16U);
  EXPECT_DOUBLE_EQ(yarn.attention_factor.value(), 0.5 * (0.1 * std::log(4.0) + 1));
}

TEST(GgufConfig, Refusals) {
  expect_contains(gguf_refusal(GgufBuilder()), "metadata key \"general.architecture\" is missing");
  expect_contains(gguf_refusal(GgufBuilder().text("general.architecture", "phi3\n"), kUnsupported),
                  "general.architecture \"phi3\\x0a\" is not supported");
  expect_contains(gguf_refusal(GgufBuilder().text("general.architecture", "llama")),
                  "llama.block_count is missing");
  const float nan = std::nanf("");
  expect_contains(gguf_refusal(gguf_builder("llama").f32("llama.rope.freq_base", nan)),
                  "llama.rope.freq_base must be a number above 1");
  expect_contains(gguf_refusal(gguf_builder("llama").f32("llama.rope.scaling.factor", nan)),
                  "rope.scaling.factor must be");
  expect_contains(gguf_refusal(gguf_builder("llama").f32("llama.rope.scaling.factor", -2)),
                  "rope.scaling.factor must be");
  expect_contains(gguf_refusal(gguf_builder("llama").f32("llama.rope.scaling.factor", 0.5F)),
                  "must be at least 1, found 0.5");
  expect_contains(
      gguf_refusal(gguf_builder("llama").text("llama.rope.scaling.type", "longrope"), kUnsupported),
      "\"longrope\"");
  expect_contains(gguf_refusal(gguf_builder("llama").u32("llama.rope.dimension_count", 2), kUnsupported),
                  "llama.rope.dimension_count 2 is not supported (4 is)");
  expect_contains(gguf_refusal(gguf_builder("llama").u32("llama.expert_count", 8), kUnsupported),
                  "llama.expert_count 8");
  expect_contains(gguf_refusal(gguf_builder("llama").u32("llama.attention.key_length", 3)),
                  "head_dim 3 is odd");
  expect_contains(gguf_refusal(gguf_builder("llama").u32("llama.attention.key_length", 1 << 20)),
                  "llama.attention.key_length must be a whole number from 1 to 4096, found 1048576");
  expect_contains(
      gguf_refusal(gguf_builder("llama").texts("tokenizer.ggml.tokens", std::vector<std::string>(11))),
      "tokenizer.ggml.tokens has 11 tokens, the embedding \"token_embd.weight\" only 10 rows");
}

TEST(GgufConfig, Eos) {
  GgufBuilder builder = gguf_builder("llama");
  builder.u32("tokenizer.ggml.eos_token_id", 2)
      .u32("tokenizer.ggml.eot_token_id", 5)
      .u32("tokenizer.ggml.eom_token_id", 2);
  std::string bytes = builder.build();
  EXPECT_EQ(read_gguf_generation_defaults(*open_gguf(bytes)).eos_ids, (std::vector<int32_t>{2, 5}));
  bytes = gguf_builder("llama").u32("tokenizer.ggml.eos_token_id", UINT32_MAX).build();
  EXPECT_TRUE(read_gguf_generation_defaults(*open_gguf(bytes)).eos_ids.empty());
  bytes = gguf_builder("llama").u32("tokenizer.ggml.eos_token_id", 1U << 31).build();
  expect_contains(error_of([&] { read_gguf_generation_defaults(*open_gguf(bytes)); }),
                  "2147483648 is no token id");
}

}  // namespace
}  // namespace qwick
