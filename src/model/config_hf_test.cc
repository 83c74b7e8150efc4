// config.json and generation_config.json as transformers 4 and 5 write them; what is refused, and that
// the refusal names the file and the field.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "model/config.h"
#include "model/test_models.h"

namespace qwick {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::HfFiles;

ModelConfig read_text(const std::string& text) {
  HfFiles files("qwen3");
  files.config_text = text;
  return read_hf_config(files.set());
}

// The tiny configuration with these fields in addition or instead.
ModelConfig read_with(const Json& fields, const std::string& architecture = "qwen3") {
  HfFiles files(architecture);
  files.config.update(fields);
  return read_hf_config(files.set());
}

std::string refusal(const Json& fields, ErrorCode code = ErrorCode::kInvalidFile,
                    const std::string& architecture = "qwen3") {
  const std::string message = error_of([&] { read_with(fields, architecture); }, code);
  EXPECT_TRUE(message.starts_with("tiny-model/config.json: ")) << message;
  return message;
}

ModelConfig read_without(const std::string& field, const std::string& architecture) {
  HfFiles files(architecture);
  files.config.erase(field);
  return read_hf_config(files.set());
}

constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;

TEST(HfConfig, Transformers4) {  // the config.json of Qwen3-0.6B
  const ModelConfig config = read_text(R"({
    "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024,
    "initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 40960,
    "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
    "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
    "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
    "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})");
  EXPECT_EQ(config.architecture, Architecture::kQwen3);
  EXPECT_EQ(config.name, "tiny-model");
  EXPECT_EQ(config.n_layers, 28U);
  EXPECT_EQ(config.d_model, 1024U);
  EXPECT_EQ(config.q_dim(), 2048U);
  EXPECT_EQ(config.kv_dim(), 1024U);
  EXPECT_EQ(config.d_ff, 3072U);
  EXPECT_EQ(config.vocab_size, 151936U);
  EXPECT_EQ(config.max_positions, 40960U);
  EXPECT_EQ(config.rms_norm_eps, 1e-6F);
  EXPECT_EQ(config.rope.kind, RopeKind::kDefault);
  EXPECT_EQ(config.rope.theta, 1e6);
  EXPECT_TRUE(config.tied_embeddings && config.qk_norm);
  EXPECT_FALSE(config.qkv_bias || config.output_bias || config.mlp_bias || config.interleaved_rope);
}

TEST(HfConfig, Transformers5) {
  const ModelConfig config = read_text(R"({
    "attention_bias": true, "attention_dropout": 0.0, "bos_token_id": null, "dtype": "bfloat16",
    "eos_token_id": null, "head_dim": 32, "hidden_act": "silu", "hidden_size": 64, "initializer_range": 0.02,
    "intermediate_size": 128, "layer_types": ["full_attention", "full_attention"],
    "max_position_embeddings": 32768, "max_window_layers": 28, "model_type": "qwen3",
    "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, "pad_token_id": null,
    "rms_norm_eps": 1e-06, "rope_parameters": {"factor": 4.0, "original_max_position_embeddings": 8192,
    "rope_theta": 500000.0, "rope_type": "yarn"}, "sliding_window": null, "tie_word_embeddings": true,
    "transformers_version": "5.24.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 100})");
  EXPECT_EQ(config.head_dim, 32U);
  EXPECT_TRUE(config.qkv_bias && config.output_bias && !config.mlp_bias);
  EXPECT_EQ(config.rope.kind, RopeKind::kYarn);
  EXPECT_EQ(config.rope.theta, 500000.0);
  EXPECT_EQ(config.rope.factor, 4.0);
  EXPECT_EQ(config.rope.original_max_positions, 8192U);
  EXPECT_FALSE(config.rope.attention_factor);
  EXPECT_TRUE(config.rope.truncate);
}

TEST(HfConfig, DefaultsOfEachArchitecture) {
  EXPECT_EQ(read_without("head_dim", "qwen3").head_dim, 128U);
  EXPECT_EQ(read_without("head_dim", "qwen2").head_dim, 4U);
  EXPECT_EQ(read_without("head_dim", "llama").head_dim, 4U);
  EXPECT_EQ(read_with({{"head_dim", nullptr}}).head_dim, 4U);
  EXPECT_EQ(read_without("num_key_value_heads", "llama").n_kv_heads, 2U);
  EXPECT_EQ(read_with({{"num_key_value_heads", nullptr}}).n_kv_heads, 2U);
  HfFiles files("qwen2");
  files.config.erase("num_key_value_heads");
  files.config["num_attention_heads"] = 32;
  EXPECT_EQ(read_hf_config(files.set()).n_kv_heads, 32U);
  EXPECT_EQ(read_without("max_position_embeddings", "qwen2").max_positions, 32768U);
  EXPECT_EQ(read_without("max_position_embeddings", "llama").max_positions, 2048U);
  EXPECT_FALSE(read_without("tie_word_embeddings", "llama").tied_embeddings);
  EXPECT_EQ(read_with(Json::object()).rms_norm_eps, 1e-6F);
  EXPECT_EQ(read_with(Json::object()).rope.theta, 10000.0);
  const ModelConfig qwen2 = read_with({{"attention_bias", false}}, "qwen2");
  EXPECT_TRUE(qwen2.qkv_bias && !qwen2.output_bias && !qwen2.qk_norm);
  const ModelConfig llama = read_with({{"attention_bias", true}, {"mlp_bias", true}}, "llama");
  EXPECT_TRUE(llama.qkv_bias && llama.output_bias && llama.mlp_bias && !llama.interleaved_rope);
}

TEST(HfConfig, Rope) {
  const RopeConfig linear =
      read_with({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}, {"rope_theta", 5e5}}).rope;
  EXPECT_EQ(linear.kind, RopeKind::kLinear);
  EXPECT_EQ(linear.factor, 2.0);
  EXPECT_EQ(linear.theta, 5e5);

  const Json llama3 = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 32}};
  const RopeConfig scaled = read_with({{"rope_scaling", llama3}}, "llama").rope;
  EXPECT_EQ(scaled.kind, RopeKind::kLlama3);
  EXPECT_EQ(scaled.factor, 8.0);
  EXPECT_EQ(scaled.original_max_positions, 32U);

  // rope_type is read before type, rope_scaling before rope_parameters, an empty one is none; a context
  // length outside of the object wins, one that is nowhere is that of the model.
  EXPECT_EQ(read_with({{"rope_parameters", {{"rope_type", "default"}, {"type", "yarn"}}}}).rope.kind,
            RopeKind::kDefault);
  EXPECT_EQ(read_with({{"rope_scaling", {{"type", "linear"}, {"factor", 3}}},
                       {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7e5}}}})
                .rope.factor,
            3.0);
  EXPECT_EQ(
      read_with({{"rope_scaling", Json::object()}, {"rope_parameters", {{"rope_theta", 7e5}}}}).rope.theta,
      7e5);
  const Json yarn = {{"type", "yarn"}, {"factor", 2.0}};
  EXPECT_EQ(read_with({{"rope_scaling", yarn}}).rope.original_max_positions, 64U);
  EXPECT_EQ(read_with({{"rope_scaling", yarn}, {"original_max_position_embeddings", 48}})
                .rope.original_max_positions,
            48U);
  // One set of parameters for the one layer type there is.
  EXPECT_EQ(read_with({{"rope_parameters", {{"full_attention", {{"rope_type", "linear"}, {"factor", 2.5}}}}}})
                .rope.factor,
            2.5);
}

TEST(HfConfig, YarnDetails) {
  const auto yarn = [](Json fields) {
    fields["rope_type"] = "yarn";
    fields["original_max_position_embeddings"] = 16;
    return read_with({{"rope_parameters", fields}}).rope;
  };
  const RopeConfig given = yarn({{"factor", 4},
                                 {"attention_factor", 0.5},
                                 {"beta_fast", 16},
                                 {"beta_slow", 2},
                                 {"truncate", false},
                                 {"mscale", 1.0},
                                 {"mscale_all_dim", 0.5}});
  EXPECT_EQ(given.attention_factor, 0.5);
  EXPECT_EQ(given.beta_fast, 16.0);
  EXPECT_EQ(given.beta_slow, 2.0);
  EXPECT_FALSE(given.truncate);
  const RopeConfig zeros = yarn({{"factor", 4}, {"beta_fast", 0}, {"beta_slow", 0}, {"mscale", 1.0}});
  EXPECT_EQ(zeros.beta_fast, 32.0);
  EXPECT_EQ(zeros.beta_slow, 1.0);
  EXPECT_FALSE(zeros.attention_factor);
  const RopeConfig mscale = yarn({{"factor", 4}, {"mscale", 1.0}, {"mscale_all_dim", 0.5}});
  EXPECT_DOUBLE_EQ(mscale.attention_factor.value(), (0.1 * std::log(4.0) + 1) / (0.05 * std::log(4.0) + 1));
  EXPECT_EQ(yarn({{"factor", nullptr}}).factor, 4.0);  // 64 / 16
}

TEST(HfConfig, RefusesByName) {
  expect_contains(refusal({{"model_type", "gemma3"}}, kUnsupported),
                  "model_type \"gemma3\" is not supported");
  expect_contains(refusal({{"hidden_act", "gelu"}}, kUnsupported), "hidden_act \"gelu\"");
  expect_contains(refusal({{"use_sliding_window", true}, {"sliding_window", 4096}}, kUnsupported),
                  "use_sliding_window");
  EXPECT_EQ(read_with({{"use_sliding_window", false}, {"sliding_window", 4096}}).n_layers, 2U);
  expect_contains(refusal({{"layer_types", {"full_attention", "sliding_attention"}}}, kUnsupported),
                  "layer_types \"sliding_attention\"");
  expect_contains(refusal({{"quantization_config", {{"quant_method", "awq"}}}}, kUnsupported),
                  "quantization_config \"awq\"");
  expect_contains(refusal({{"rope_scaling", {{"type", "dynamic"}, {"factor", 2}}}}, kUnsupported),
                  "rope_scaling.type \"dynamic\"");
  expect_contains(refusal({{"rope_parameters", {{"rope_type", "longrope"}}}}, kUnsupported),
                  "rope_parameters.rope_type \"longrope\"");
  expect_contains(refusal({{"rope_parameters",
                            {{"full_attention", Json::object()}, {"sliding_attention", Json::object()}}}},
                          kUnsupported),
                  "rope_parameters of \"full_attention\"");
  expect_contains(refusal({{"partial_rotary_factor", 0.5}}, kUnsupported), "partial_rotary_factor 0.5");
}

TEST(HfConfig, RefusesBadNumbers) {
  for (const char* field : {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                            "vocab_size", "num_key_value_heads", "head_dim", "max_position_embeddings"}) {
    for (const Json& value :
         {Json(0), Json(-1), Json(4.5), Json("8"), Json(true), Json(uint64_t{1} << 63), Json::array()}) {
      expect_contains(refusal({{field, value}}), std::string(field) + " must be a whole number from 1 to ");
    }
  }
  expect_contains(refusal({{"num_key_value_heads", 4}}),
                  "2 query heads can't be shared by 4 key/value heads");
  expect_contains(refusal({{"num_attention_heads", 3}, {"num_key_value_heads", 2}}), "not a multiple");
  expect_contains(refusal({{"head_dim", 5}}), "head_dim 5 is odd");
  expect_contains(refusal({{"num_attention_heads", 4096}, {"head_dim", 4096}}),
                  "4096 heads of 4096 elements");
  expect_contains(refusal({{"head_dim", nullptr}, {"num_attention_heads", 3}, {"num_key_value_heads", 3}},
                          ErrorCode::kInvalidFile, "llama"),
                  "hidden_size 8 is not a multiple of num_attention_heads 3");
  expect_contains(refusal({{"rms_norm_eps", 0}}), "rms_norm_eps must be a number");
  expect_contains(refusal({{"rms_norm_eps", -1e-6}}), "rms_norm_eps must be a number");
  expect_contains(refusal({{"rope_theta", 1}}), "rope_theta must be a number above 1");
  expect_contains(refusal({{"tie_word_embeddings", "yes"}}),
                  "tie_word_embeddings must be true or false, found \"yes\"");
  expect_contains(refusal({{"model_type", 3}}), "model_type must be a string, found 3");
  expect_contains(refusal({{"rope_scaling", "yarn"}}), "rope_scaling must be an object");
  const auto scaling = [](Json fields, const std::string& kind) {
    fields["type"] = kind;
    return refusal({{"rope_scaling", fields}});
  };
  for (const Json& factor : {Json(-2), Json(0), Json(0.5), Json(1e9), Json("2")}) {
    for (const char* kind : {"linear", "yarn", "llama3"}) {
      expect_contains(scaling({{"factor", factor}}, kind),
                      "rope_scaling.factor must be a number of at least 1");
    }
  }
  for (const char* kind : {"linear", "yarn", "llama3"}) {
    expect_contains(scaling(Json::object(), kind), "rope_scaling.factor is missing");
  }
  expect_contains(scaling({{"factor", 2}, {"attention_factor", -1}}, "yarn"),
                  "rope_scaling.attention_factor must be");
  expect_contains(scaling({{"factor", 2}, {"beta_fast", 1}, {"beta_slow", 2}}, "yarn"),
                  "beta_fast 1 is below beta_slow 2");
  expect_contains(scaling({{"factor", 2}, {"original_max_position_embeddings", 0}}, "yarn"),
                  "rope_scaling.original_max_position_embeddings must be");
  expect_contains(scaling({{"factor", 2}, {"low_freq_factor", 4}, {"high_freq_factor", 4}}, "llama3"),
                  "high_freq_factor 4 must be above low_freq_factor 4");
  expect_contains(scaling({{"factor", 2}, {"low_freq_factor", 1}}, "llama3"), "high_freq_factor is missing");
}

TEST(HfConfig, RefusesWhatIsNotAFiniteNumber) {
  for (const std::string literal : {"NaN", "Infinity", "-Infinity"}) {
    const std::string text =
        R"({"model_type":"qwen3","note":"NaN","rope_scaling":{"type":"linear", "factor" : )" + literal + "}}";
    EXPECT_EQ(error_of([&] { read_text(text); }),
              "tiny-model/config.json: field \"factor\" is " + literal + ", must be a finite number");
  }
  expect_contains(error_of([&] { read_text(R"({"rope_theta": 1e999})"); }), "config.json: not valid JSON");
}

TEST(HfConfig, RefusesOtherTexts) {
  expect_contains(error_of([&] { read_text("[]"); }), "config.json: must hold a JSON object");
  expect_contains(error_of([&] { read_text("{"); }), "not valid JSON");
  expect_contains(error_of([&] { read_text("{}"); }), "model_type is missing");
  expect_contains(error_of([&] { read_text(std::string(300000, ' ')); }), "300000 bytes, more than 262144");
  for (const char* field :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}) {
    expect_contains(error_of([&] { read_without(field, "llama"); }), std::string(field) + " is missing");
  }
  expect_contains(error_of([&] { read_hf_config(FileSet::embedded("set", {})); }, ErrorCode::kNotFound),
                  "config.json");
}

TEST(HfConfig, NameIsTheDirectorys) {
  const auto root = std::filesystem::temp_directory_path() / ("qwick_config_" + std::to_string(::getpid()));
  const auto name_in = [&](const std::string& directory, const std::string& opened) {
    std::filesystem::create_directories(root / directory);
    HfFiles files("llama");
    std::ofstream(root / directory / "config.json") << files.config.dump();
    return read_hf_config(FileSet::directory(root / opened)).name;
  };
  EXPECT_EQ(name_in("SmolLM2-135M", "SmolLM2-135M"), "SmolLM2-135M");
  EXPECT_EQ(name_in("SmolLM2-135M", "SmolLM2-135M/"), "SmolLM2-135M");
  EXPECT_EQ(name_in("a", "a/../a/."), "a");
  EXPECT_EQ(
      name_in("models--Qwen--Qwen3-0.6B/snapshots/c1899de", "models--Qwen--Qwen3-0.6B/snapshots/c1899de"),
      "Qwen3-0.6B");
  EXPECT_EQ(name_in("a\n\xff", "a\n\xff"), "a \xEF\xBF\xBD");
  std::filesystem::remove_all(root);
}

GenerationDefaults read_generation(const std::string& text, Json config = Json::object()) {
  HfFiles files("qwen3");
  files.config.update(config);
  files.generation_text = text;
  return read_hf_generation_defaults(files.set());
}

TEST(HfGeneration, ReadsBothFiles) {
  const GenerationDefaults qwen = read_generation(
      R"({"bos_token_id":151643,"do_sample":true,"eos_token_id":[151645,151643],"pad_token_id":151643,
          "temperature":0.6,"top_k":20,"top_p":0.95,"min_p":0.0,"repetition_penalty":1.1})");
  EXPECT_EQ(qwen.eos_ids, (std::vector<int32_t>{151645, 151643}));
  EXPECT_EQ(qwen.do_sample, true);
  EXPECT_EQ(qwen.temperature, 0.6);
  EXPECT_EQ(qwen.top_k, 20);
  EXPECT_EQ(qwen.top_p, 0.95);
  EXPECT_EQ(qwen.min_p, 0.0);
  EXPECT_EQ(qwen.repetition_penalty, 1.1);
  const GenerationDefaults none = read_generation("", {{"eos_token_id", {3, 4}}});
  EXPECT_EQ(none.eos_ids, (std::vector<int32_t>{3, 4}));
  EXPECT_FALSE(none.do_sample || none.temperature || none.top_p || none.min_p || none.repetition_penalty ||
               none.top_k);
  EXPECT_EQ(read_generation(R"({"top_k":-1})").top_k, 0);
  EXPECT_EQ(read_generation(R"({"top_k":5})").eos_ids, std::vector<int32_t>{9});
  EXPECT_TRUE(read_generation("", {{"eos_token_id", nullptr}}).eos_ids.empty());
  HfFiles llama("llama");
  llama.config.erase("eos_token_id");
  EXPECT_EQ(read_hf_generation_defaults(llama.set()).eos_ids, std::vector<int32_t>{2});
}

TEST(HfGeneration, RefusesBadNumbers) {
  const auto refused = [](const std::string& text) {
    const std::string message = error_of([&] { read_generation(text); });
    EXPECT_TRUE(message.starts_with("tiny-model/generation_config.json: ")) << message;
    return message;
  };
  expect_contains(refused(R"({"temperature":-0.1})"), "temperature must be a number of at least 0");
  expect_contains(refused(R"({"temperature":NaN})"), "field \"temperature\" is NaN");
  expect_contains(refused(R"({"top_p":1.5})"), "top_p must be");
  expect_contains(refused(R"({"repetition_penalty":0})"), "repetition_penalty must be a number above 0");
  expect_contains(refused(R"({"top_k":1.5})"), "top_k must be a whole number");
  expect_contains(refused(R"({"eos_token_id":-1})"), "eos_token_id must hold token ids, found -1");
  expect_contains(refused(R"({"eos_token_id":[1,4294967296]})"),
                  "eos_token_id must hold token ids, found 4294967296");
}

}  // namespace
}  // namespace qwick
