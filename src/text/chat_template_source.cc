// Finding the chat template that a model comes with.
#include "text/chat_template_source.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace qwick {
namespace {

constexpr const char* kConfigFile = "tokenizer_config.json";
constexpr const char* kTemplateFile = "chat_template.jinja";

// A token is written as its text or as {"content": text}; null and absent are no token.
std::string token_text(const Json& config, const char* key, const std::string& source) {
  const auto it = config.find(key);
  if (it == config.end() || it->is_null()) return {};
  const Json* text = &*it;
  if (it->is_object() && it->contains("content")) text = &(*it)["content"];
  if (!text->is_string())
    invalid_file("{}: {}: must be a string or an object with a string \"content\"", source, key);
  return text->get<std::string>();
}

std::optional<std::string> template_text(const Json& config, const std::string& source) {
  const auto it = config.find("chat_template");
  if (it == config.end() || it->is_null()) return std::nullopt;
  if (it->is_string()) return it->get<std::string>();
  if (!it->is_array()) invalid_file("{}: chat_template: must be a string or a list", source);
  for (const Json& entry : *it) {
    const bool valid = entry.is_object() && entry.contains("name") && entry["name"].is_string() &&
                       entry.contains("template") && entry["template"].is_string();
    if (!valid)
      invalid_file("{}: chat_template: entries must have a string \"name\" and a string \"template\"",
                   source);
    if (entry["name"] == "default") return entry["template"].get<std::string>();
  }
  return std::nullopt;
}

std::string gguf_token(const GgufFile& file, const char* id_key) {
  const auto id = file.find_uint(id_key);
  if (!id.has_value()) return {};
  const auto& tokens = file.get_strings("tokenizer.ggml.tokens");
  if (*id >= tokens.size()) {
    invalid_file("{}: {}: {} is outside the vocabulary of {} tokens", file.name(), id_key, *id,
                 tokens.size());
  }
  return std::string(tokens[*id]);
}

}  // namespace

std::optional<ChatTemplate> load_chat_template_hf(const FileSet& files) {
  Json config = Json::object();
  std::string config_name = kConfigFile;
  if (const auto file = files.find(kConfigFile); file.has_value()) {
    config_name = file->name();
    config = parse_json(file->text(), config_name);
    if (!config.is_object()) invalid_file("{}: must be a JSON object", config_name);
  }
  std::string bos = token_text(config, "bos_token", config_name);
  std::string eos = token_text(config, "eos_token", config_name);
  if (const auto file = files.find(kTemplateFile); file.has_value()) {
    return ChatTemplate::compile(std::string(file->text()), file->name(), std::move(bos), std::move(eos));
  }
  auto text = template_text(config, config_name);
  if (!text.has_value()) return std::nullopt;
  return ChatTemplate::compile(*std::move(text), fmt::format("{}: chat_template", config_name),
                               std::move(bos), std::move(eos));
}

std::optional<ChatTemplate> load_chat_template_gguf(const GgufFile& file) {
  const auto text = file.find_string("tokenizer.chat_template");
  if (!text.has_value()) return std::nullopt;
  return ChatTemplate::compile(std::string(*text), fmt::format("{}: tokenizer.chat_template", file.name()),
                               gguf_token(file, "tokenizer.ggml.bos_token_id"),
                               gguf_token(file, "tokenizer.ggml.eos_token_id"));
}

}  // namespace qwick
