// What the two sources of a configuration share; they are in config_hf.cc and config_gguf.cc.
#include "model/config.h"

#include <filesystem>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "model/config_check.h"

namespace qwick {

std::string_view architecture_name(Architecture architecture) {
  switch (architecture) {
    case Architecture::kQwen3:
      return "qwen3";
    case Architecture::kQwen2:
      return "qwen2";
    case Architecture::kLlama:
      return "llama";
  }
  QWICK_CHECK(false);
}

std::string_view rope_kind_name(RopeKind kind) {
  switch (kind) {
    case RopeKind::kDefault:
      return "default";
    case RopeKind::kLinear:
      return "linear";
    case RopeKind::kYarn:
      return "yarn";
    case RopeKind::kLlama3:
      return "llama3";
  }
  QWICK_CHECK(false);
}

std::optional<Architecture> find_architecture(std::string_view name) {
  for (const auto known : {Architecture::kQwen3, Architecture::kQwen2, Architecture::kLlama}) {
    if (name == architecture_name(known)) return known;
  }
  return std::nullopt;
}

void check_config(const ModelConfig& config, std::string_view source) {
  if (config.n_heads % config.n_kv_heads != 0) {
    invalid_file("{}: {} query heads can't be shared by {} key/value heads: not a multiple", source,
                 config.n_heads, config.n_kv_heads);
  }
  if (config.head_dim % 2 != 0) {
    invalid_file("{}: head_dim {} is odd; rotary embedding turns pairs", source, config.head_dim);
  }
  if (uint64_t{config.n_heads} * config.head_dim > kMaxWidth) {
    invalid_file("{}: {} heads of {} elements are more than {}", source, config.n_heads, config.head_dim,
                 kMaxWidth);
  }
  if (config.rope.kind == RopeKind::kYarn && config.rope.beta_fast < config.rope.beta_slow) {
    invalid_file("{}: RoPE scaling: beta_fast {} is below beta_slow {}", source, config.rope.beta_fast,
                 config.rope.beta_slow);
  }
  if (config.rope.kind == RopeKind::kLlama3 && config.rope.high_freq_factor <= config.rope.low_freq_factor) {
    invalid_file("{}: RoPE scaling: high_freq_factor {} must be above low_freq_factor {}", source,
                 config.rope.high_freq_factor, config.rope.low_freq_factor);
  }
}

std::string clean_model_name(std::string_view name) {
  // Invalid UTF-8 turns into U+FFFD on the way through JSON.
  constexpr size_t kLongest = 256;
  const std::string json = Json(std::string(name)).dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string text = printable(Json::parse(json).get<std::string>());
  return text.size() <= kLongest ? text : std::string();
}

std::string path_model_name(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  const auto directory = absolute.has_filename() ? absolute : absolute.parent_path();
  // ~/.cache/huggingface/hub/models--Qwen--Qwen3-0.6B/snapshots/c1899de2...
  const std::string repository = directory.parent_path().parent_path().filename().string();
  if (directory.parent_path().filename() == "snapshots" && repository.starts_with("models--")) {
    return clean_model_name(repository.substr(repository.rfind("--") + 2));
  }
  return clean_model_name(directory.filename().string());
}

}  // namespace qwick
