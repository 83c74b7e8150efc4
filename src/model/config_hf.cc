// config.json and generation_config.json of a Hugging Face directory. Defaults of missing fields and
// the meaning of all of them are those of transformers (5.24: configuration_{qwen3,qwen2,llama}.py,
// modeling_rope_utils.py); dimensions that every published file has are required.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "format/message.h"
#include "model/config.h"
#include "model/config_check.h"
#include "model/json_fields.h"

namespace qwick {
namespace {

constexpr Range kPositive = {0, 1e9, true};

[[noreturn]] void unsupported(const std::string& label, std::string_view found, std::string_view supported) {
  fail(ErrorCode::kUnsupported, "{} {} is not supported ({})", label, found, supported);
}

Architecture read_architecture(const JsonFields& fields) {
  const auto type = fields.find_string("model_type");
  if (!type) fields.missing("model_type");
  const auto architecture = find_architecture(*type);
  if (!architecture) unsupported(fields.label("model_type"), in_quotes(*type), "qwen3, qwen2 and llama are");
  return *architecture;
}

// What transformers can do with these architectures and qwick can't.
void refuse_unsupported(const JsonFields& fields, Architecture architecture) {
  const auto activation = fields.find_string("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swish") {
    unsupported(fields.label("hidden_act"), in_quotes(activation), "silu is");
  }
  if (const auto quantization = fields.find_object("quantization_config")) {
    unsupported(fields.label("quantization_config"),
                in_quotes(quantization->find_string("quant_method").value_or("")),
                "use the unquantized model or a GGUF file");
  }
  if (architecture != Architecture::kLlama && fields.find_bool("use_sliding_window").value_or(false)) {
    unsupported(fields.label("use_sliding_window"), "true", "full attention is");
  }
  if (const Json* types = fields.find("layer_types")) {
    if (!types->is_array()) fields.wrong("layer_types", "a list");
    for (const Json& type : *types) {
      if (type == "full_attention") continue;
      unsupported(fields.label("layer_types"),
                  type.is_string() ? in_quotes(type.get<std::string>()) : "of this kind",
                  "full_attention is");
    }
  }
}

// The object with the RoPE parameters. In transformers 5 it holds everything, in version 4 theta is
// outside of it.
std::optional<JsonFields> find_rope(const JsonFields& fields) {
  std::string_view field = "rope_scaling";
  auto rope = fields.find_object(field);
  if (!rope || rope->object().empty()) {
    field = "rope_parameters";
    rope = fields.find_object(field);
  }
  if (!rope) return std::nullopt;
  // One set for each layer type; every layer is full_attention here.
  if (rope->object().size() == 1 && rope->find("full_attention") != nullptr) {
    return rope->find_object("full_attention");
  }
  for (const auto& [key, value] : rope->object().items()) {
    if (value.is_object())
      unsupported(fields.label(field), "of " + in_quotes(key), "one set for all layers is");
  }
  return rope;
}

RopeKind read_rope_kind(const JsonFields& rope) {
  const std::string_view field = rope.find("rope_type") != nullptr ? "rope_type" : "type";
  const std::string name = rope.find_string(field).value_or("default");
  for (const auto kind : {RopeKind::kDefault, RopeKind::kLinear, RopeKind::kYarn, RopeKind::kLlama3}) {
    if (name == rope_kind_name(kind)) return kind;
  }
  unsupported(rope.label(field), in_quotes(name), "default, linear, yarn and llama3 are");
}

double yarn_scale(double factor, double mscale) {
  return 0.1 * mscale * std::log(factor) + 1.0;
}

void read_yarn(const JsonFields& rope, uint32_t max_positions, RopeConfig& config) {
  // A factor that is missing is the ratio of the two context lengths (DeepSeek's way of writing it).
  const auto factor = rope.find_number("factor", {1, kMaxRopeFactor});
  if (!factor && config.original_max_positions >= max_positions) rope.missing("factor");
  config.factor = factor.value_or(static_cast<double>(max_positions) / config.original_max_positions);

  config.attention_factor = rope.find_number("attention_factor", kPositive);
  const auto mscale = rope.find_number("mscale", {0, 1e9});
  const auto mscale_all_dim = rope.find_number("mscale_all_dim", {0, 1e9});
  if (!config.attention_factor && mscale.value_or(0) != 0 && mscale_all_dim.value_or(0) != 0) {
    config.attention_factor = yarn_scale(config.factor, *mscale) / yarn_scale(config.factor, *mscale_all_dim);
  }
  // Zero stands for the default.
  if (const auto beta = rope.find_number("beta_fast", {0, 1e9}); beta && *beta != 0) config.beta_fast = *beta;
  if (const auto beta = rope.find_number("beta_slow", {0, 1e9}); beta && *beta != 0) config.beta_slow = *beta;
  config.truncate = rope.find_bool("truncate").value_or(true);
}

// Every kind but the default.
void read_scaling(const JsonFields& top, const JsonFields& rope, uint32_t max_positions, RopeConfig& config) {
  if (config.kind != RopeKind::kYarn) config.factor = rope.get_number("factor", {1, kMaxRopeFactor});
  if (config.kind == RopeKind::kLinear) return;
  // The field outside of the object comes first.
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  auto original = top.find_uint(kOriginal, 1, kMaxPositions);
  if (!original) original = rope.find_uint(kOriginal, 1, kMaxPositions);
  config.original_max_positions = static_cast<uint32_t>(original.value_or(max_positions));
  if (config.kind == RopeKind::kYarn) {
    read_yarn(rope, max_positions, config);
  } else {
    config.low_freq_factor = rope.get_number("low_freq_factor", kPositive);
    config.high_freq_factor = rope.get_number("high_freq_factor", kPositive);
  }
}

RopeConfig read_rope(const JsonFields& top, uint32_t max_positions) {
  constexpr Range kTheta = {1, kMaxTheta, true};
  constexpr Range kFraction = {0, 1, true};
  RopeConfig config;
  config.theta = top.find_number("rope_theta", kTheta).value_or(config.theta);
  double rotated = top.find_number("partial_rotary_factor", kFraction).value_or(1);
  if (const auto rope = find_rope(top)) {
    config.kind = read_rope_kind(*rope);
    config.theta = rope->find_number("rope_theta", kTheta).value_or(config.theta);
    rotated = rope->find_number("partial_rotary_factor", kFraction).value_or(rotated);
    if (config.kind != RopeKind::kDefault) read_scaling(top, *rope, max_positions, config);
  }
  if (rotated != 1) unsupported(top.label("partial_rotary_factor"), fmt::format("{}", rotated), "1 is");
  return config;
}

void read_dimensions(const JsonFields& fields, ModelConfig& config) {
  const auto get = [&](std::string_view field, uint64_t max) {
    return static_cast<uint32_t>(fields.get_uint(field, 1, max));
  };
  const auto find = [&](std::string_view field, uint64_t max, uint64_t otherwise) {
    return static_cast<uint32_t>(fields.find_uint(field, 1, max).value_or(otherwise));
  };
  const bool llama = config.architecture == Architecture::kLlama;
  config.n_layers = get("num_hidden_layers", kMaxLayers);
  config.d_model = get("hidden_size", kMaxWidth);
  config.n_heads = get("num_attention_heads", kMaxHeads);
  config.d_ff = get("intermediate_size", kMaxWidth);
  config.vocab_size = get("vocab_size", kMaxVocab);
  config.max_positions = find("max_position_embeddings", kMaxPositions, llama ? 2048 : 32768);
  // In the Qwen classes a missing number of key/value heads is 32, and only null means n_heads.
  const bool absent = !fields.object().contains("num_key_value_heads");
  config.n_kv_heads = find("num_key_value_heads", kMaxHeads, absent && !llama ? 32 : config.n_heads);
  if (config.architecture == Architecture::kQwen3 && !fields.object().contains("head_dim")) {
    config.head_dim = 128;
  } else if (fields.find("head_dim") != nullptr) {
    config.head_dim = get("head_dim", kMaxHeadDim);
  } else {
    if (config.d_model % config.n_heads != 0) {
      invalid_file("{}: hidden_size {} is not a multiple of num_attention_heads {}", fields.source(),
                   config.d_model, config.n_heads);
    }
    config.head_dim = config.d_model / config.n_heads;
  }
}

}  // namespace

ModelConfig read_hf_config(const FileSet& files) {
  const MappedFile file = files.open("config.json");
  const Json json = parse_config_json(file.text(), file.name());
  const JsonFields fields(json, file.name());
  ModelConfig config;
  config.architecture = read_architecture(fields);
  config.name = path_model_name(files.name());
  if (config.name.empty()) config.name = architecture_name(config.architecture);
  refuse_unsupported(fields, config.architecture);
  read_dimensions(fields, config);
  config.rms_norm_eps = static_cast<float>(fields.find_number("rms_norm_eps", {kMinEps, 1}).value_or(1e-6));
  config.tied_embeddings = fields.find_bool("tie_word_embeddings").value_or(false);
  const bool attention_bias = fields.find_bool("attention_bias").value_or(false);
  switch (config.architecture) {
    case Architecture::kQwen3:
      config.qk_norm = true;
      config.qkv_bias = config.output_bias = attention_bias;
      break;
    case Architecture::kQwen2:
      config.qkv_bias = true;  // whatever attention_bias says: the class does not read it
      break;
    case Architecture::kLlama:
      config.qkv_bias = config.output_bias = attention_bias;
      config.mlp_bias = fields.find_bool("mlp_bias").value_or(false);
      break;
  }
  config.rope = read_rope(fields, config.max_positions);
  check_config(config, file.name());
  return config;
}

GenerationDefaults read_hf_generation_defaults(const FileSet& files) {
  GenerationDefaults defaults;
  std::optional<std::vector<int32_t>> eos;
  if (const auto file = files.find("generation_config.json")) {
    const Json json = parse_config_json(file->text(), file->name());
    const JsonFields fields(json, file->name());
    eos = fields.find_ids("eos_token_id");
    defaults.do_sample = fields.find_bool("do_sample");
    defaults.temperature = fields.find_number("temperature", {0, 1e9});
    defaults.top_p = fields.find_number("top_p", {0, 1});
    defaults.min_p = fields.find_number("min_p", {0, 1});
    defaults.repetition_penalty = fields.find_number("repetition_penalty", kPositive);
    if (const auto top_k = fields.find_number("top_k", {-1, kMaxVocab})) {
      // -1 is how some servers write "off".
      if (*top_k != std::floor(*top_k)) fields.wrong("top_k", "a whole number");
      defaults.top_k = std::max(0, static_cast<int32_t>(*top_k));
    }
  }
  if (!eos) {
    const MappedFile file = files.open("config.json");
    const Json json = parse_config_json(file.text(), file.name());
    const JsonFields fields(json, file.name());
    eos = fields.find_ids("eos_token_id");
    // The Llama class alone has a default, for files that do not mention the field.
    if (!json.contains("eos_token_id") && read_architecture(fields) == Architecture::kLlama) eos = {2};
  }
  defaults.eos_ids = eos.value_or(std::vector<int32_t>());
  return defaults;
}

}  // namespace qwick
