// `qwick inspect`: what a model is made of and what it costs in memory; for a broken file, what is
// broken (by the error that opening it throws).
#include <fmt/core.h>

#include <map>

#include "base/error.h"
#include "base/json.h"
#include "cli/options.h"
#include "hub/loaded_model.h"

namespace qwick::cli {
namespace {

struct TypeTotal {
  uint64_t n_tensors = 0;
  uint64_t n_elements = 0;
  uint64_t n_bytes = 0;
};

Json rope_json(const RopeConfig& rope) {
  Json json{{"type", rope_kind_name(rope.kind)}, {"theta", rope.theta}};
  if (rope.kind != RopeKind::kDefault) json["factor"] = rope.factor;
  if (rope.original_max_positions > 0) json["original_max_positions"] = rope.original_max_positions;
  return json;
}

Json describe(const LoadedModel& loaded) {
  const ModelConfig& config = loaded.model.config();
  std::map<std::string, TypeTotal> totals;
  uint64_t n_parameters = 0;
  uint64_t n_weight_bytes = 0;
  Json tensors = Json::array();
  for (const TensorView& tensor : loaded.model.tensors()) {
    TypeTotal& total = totals[std::string(dtype_info(tensor.dtype).name)];
    ++total.n_tensors;
    total.n_elements += tensor.n_elements();
    total.n_bytes += tensor.data.size();
    n_parameters += tensor.n_elements();
    n_weight_bytes += tensor.data.size();
    tensors.push_back({{"name", tensor.name},
                       {"type", dtype_info(tensor.dtype).name},
                       {"shape", tensor.shape},
                       {"bytes", tensor.data.size()}});
  }
  Json types = Json::object();
  for (const auto& [name, total] : totals) {
    types[name] = {{"tensors", total.n_tensors}, {"elements", total.n_elements}, {"bytes", total.n_bytes}};
  }
  const uint64_t cache_bytes_per_token = uint64_t{2} * config.n_layers * config.kv_dim() * sizeof(float);
  return {
      {"name", config.name},
      {"architecture", architecture_name(config.architecture)},
      {"parameters", n_parameters},
      {"n_layers", config.n_layers},
      {"d_model", config.d_model},
      {"n_heads", config.n_heads},
      {"n_kv_heads", config.n_kv_heads},
      {"head_dim", config.head_dim},
      {"d_ff", config.d_ff},
      {"vocab_size", config.vocab_size},
      {"max_positions", config.max_positions},
      {"rms_norm_eps", config.rms_norm_eps},
      {"tied_embeddings", config.tied_embeddings},
      {"qk_norm", config.qk_norm},
      {"qkv_bias", config.qkv_bias},
      {"rope", rope_json(config.rope)},
      {"eos_ids", loaded.model.generation_defaults().eos_ids},
      {"tokenizer", loaded.tokenizer.describe()},
      {"chat_template", loaded.chat_template ? Json(loaded.chat_template->name()) : Json()},
      {"memory", {{"weight_bytes", n_weight_bytes}, {"cache_bytes_per_token", cache_bytes_per_token}}},
      {"types", types},
      {"tensors", tensors},
  };
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

double mib(const Json& bytes) {
  return bytes.get<double>() / (1 << 20);
}

void print(const Json& about) {
  for (const auto& [key, value] : about.items()) {
    if (key == "memory" || key == "types" || key == "tensors") continue;
    fmt::print("{:<16} {}\n", key, value.is_null() ? "none" : text_of(value));
  }
  fmt::print("{:<16} {:.1f} MiB of weights, mapped; {:.1f} KiB of cache per token (f32)\n\n", "memory",
             mib(about["memory"]["weight_bytes"]),
             about["memory"]["cache_bytes_per_token"].get<double>() / 1024);
  for (const auto& [name, total] : about["types"].items()) {
    fmt::print("{:<6} {:>4} tensors {:>12} elements {:>9.1f} MiB\n", name, total["tensors"].get<uint64_t>(),
               total["elements"].get<uint64_t>(), mib(total["bytes"]));
  }
  fmt::print("\n");
  for (const Json& tensor : about["tensors"]) {
    fmt::print("{:<6} {:<16} {}\n", text_of(tensor["type"]), tensor["shape"].dump(), text_of(tensor["name"]));
  }
}

}  // namespace

int inspect(const Options& options) {
  const Json about = describe(load_model(options.model));
  if (options.json) {
    fmt::print("{}\n", about.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    print(about);
  }
  return 0;
}

}  // namespace qwick::cli
