#include "api/text_endpoints.h"

#include <vector>

#include "api/body.h"
#include "api/errors.h"
#include "api/fields.h"

namespace qwick::api {
namespace {

std::vector<int32_t> ids_of(const ChatService& service, const Fields& fields, const Json& json) {
  const auto prompt = fields.string("prompt");
  const auto content = fields.string("content");
  const bool parses_special = fields.boolean("parse_special").value_or(true);
  if (fields.find("messages") != nullptr) {
    if (prompt || content)
      invalid_field(prompt ? "prompt" : "content", "contradicts messages: send one of the two");
    return service.prompt_ids(parse_chat_prompt(json));
  }
  if (!prompt && !content) invalid_field("prompt", "is missing: send \"prompt\" or \"messages\"");
  return service.tokenizer().encode(prompt ? *prompt : *content,
                                    parses_special ? SpecialText::kParse : SpecialText::kPlain);
}

}  // namespace

std::string tokenize(const ChatService& service, std::string_view body) {
  const Json json = parse_body(body);
  const Fields fields(json, "");
  const std::vector<int32_t> ids = ids_of(service, fields, json);
  Json answer = {{"count", ids.size()}, {"max_model_len", service.context_length()}, {"tokens", ids}};
  const bool with_pieces = fields.boolean("with_pieces").value_or(false);
  if (fields.boolean("return_token_strs").value_or(with_pieces)) {
    Json strings = Json::array();
    for (const int32_t id : ids) strings.push_back(service.tokenizer().decode({&id, 1}));
    answer["token_strs"] = std::move(strings);
  }
  return answer.dump();
}

std::string detokenize(const ChatService& service, std::string_view body) {
  const Json json = parse_body(body);
  const Json* tokens = Fields(json, "").find("tokens");
  if (tokens == nullptr) invalid_field("tokens", "is missing");
  const std::vector<int32_t> ids = parse_token_ids(*tokens, "tokens");
  service.resolver().check_ids(ids, "tokens");
  const std::string text = service.tokenizer().decode(ids);
  return Json{{"prompt", text}, {"content", text}}.dump();
}

std::string apply_template(const ChatService& service, std::string_view body) {
  return Json{{"prompt", service.prompt_text(parse_chat_prompt(parse_body(body)))}}.dump();
}

}  // namespace qwick::api
