#include "api/chat_response.h"

#include <utility>

namespace qwick::api {

Json usage_object(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", uint64_t{usage.prompt_tokens} + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

std::string chat_completion(const AnswerHeader& header, const AnswerText& text,
                            std::string_view finish_reason, const Usage& usage) {
  // Content is a string even when empty: clients add it up.
  Json message = {{"role", "assistant"}, {"content", text.content}, {"refusal", nullptr}};
  if (!text.reasoning.empty()) message["reasoning_content"] = text.reasoning;
  Json choice = {
      {"index", 0}, {"message", std::move(message)}, {"logprobs", nullptr}, {"finish_reason", finish_reason}};
  const Json completion = {{"id", header.id},
                           {"object", "chat.completion"},
                           {"created", header.created},
                           {"model", header.model},
                           {"choices", Json::array({std::move(choice)})},
                           {"usage", usage_object(usage)}};
  return completion.dump();
}

Json ChatChunks::frame(Json choices) const {
  return {{"id", header_.id},
          {"object", "chat.completion.chunk"},
          {"created", header_.created},
          {"model", header_.model},
          {"choices", std::move(choices)}};
}

std::string ChatChunks::chunk(Json delta, const Json& finish_reason) const {
  Json choice = {
      {"index", 0}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", finish_reason}};
  Json json = frame(Json::array({std::move(choice)}));
  if (include_usage_) json["usage"] = nullptr;
  return json.dump();
}

std::string ChatChunks::start() const {
  return chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
}

std::string ChatChunks::delta(const AnswerText& text) const {
  Json delta = Json::object();
  if (!text.reasoning.empty()) delta["reasoning_content"] = text.reasoning;
  if (!text.content.empty()) delta["content"] = text.content;
  return chunk(std::move(delta), nullptr);
}

std::string ChatChunks::finish(std::string_view finish_reason) const {
  return chunk(Json::object(), finish_reason);
}

std::string ChatChunks::usage(const Usage& usage) const {
  Json json = frame(Json::array());
  json["usage"] = usage_object(usage);
  return json.dump();
}

std::string model_list(const std::vector<std::string>& names, int64_t created, uint32_t max_model_len) {
  Json models = Json::array();
  for (const std::string& name : names) {
    models.push_back({{"id", name},
                      {"object", "model"},
                      {"created", created},
                      {"owned_by", "qwick"},
                      {"max_model_len", max_model_len}});
  }
  return Json{{"object", "list"}, {"data", std::move(models)}}.dump();
}

}  // namespace qwick::api
