#include "api/chat_request.h"

#include <array>

#include "api/body.h"
#include "api/chat_messages.h"
#include "api/errors.h"

namespace qwick::api {
namespace {

constexpr size_t kMaxTemplateVariables = 64;

// Besides the common ones.
constexpr auto kOwnFields = std::to_array<std::string_view>({
    "messages",
    "top_logprobs",
    "enable_thinking",
    "reasoning_effort",
    "chat_template_kwargs",
    "add_generation_prompt",
    "continue_final_message",
    "parallel_tool_calls",
});

constexpr auto kUnsupported = std::to_array<UnsupportedField>({
    {"tools", "[[]]"},
    {"tool_choice", R"(["none","auto"])"},
    {"functions", "[[]]"},
    {"function_call", R"(["none","auto"])"},
    {"modalities", R"([["text"]])"},
    {"audio", "[]"},
    {"chat_template", "[]"},
    {"thinking_budget", "[]"},
    {"separate_reasoning", "[true]"},
});

void parse_logprobs(const Fields& fields, ChatRequest& request) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto n_top = fields.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (n_top.value_or(0) > 0 && !wanted) invalid_field("top_logprobs", "needs \"logprobs\": true");
  if (wanted) request.n_top_logprobs = static_cast<uint32_t>(n_top.value_or(0));
}

void parse_template_variables(const Fields& fields, ChatRequest& request) {
  request.enable_thinking = fields.boolean("enable_thinking");
  // There is thinking or none; how much is the model's own.
  if (fields.string("reasoning_effort") == "none") {
    if (request.enable_thinking.value_or(false))
      invalid_field("enable_thinking", "contradicts reasoning_effort \"none\"");
    request.enable_thinking = false;
  }
  const Json* kwargs = fields.find("chat_template_kwargs");
  if (kwargs == nullptr) return;
  const Fields nested(*kwargs, "chat_template_kwargs");
  if (kwargs->size() > kMaxTemplateVariables) {
    invalid_field("chat_template_kwargs", "must not have more than {} members", kMaxTemplateVariables);
  }
  if (const auto thinking = nested.boolean("enable_thinking")) {
    if (request.enable_thinking.value_or(*thinking) != *thinking) {
      invalid_field("enable_thinking", "contradicts chat_template_kwargs.enable_thinking");
    }
    request.enable_thinking = thinking;
  }
  for (const auto& [name, value] : kwargs->items()) {
    if (name == "messages" || name == "tools" || name == "add_generation_prompt") {
      invalid_field(nested.path(name), "is set by the server");
    }
    if (name != "enable_thinking") request.template_variables[name] = value;
  }
}

// How the messages become a prompt.
void parse_prompt(const Fields& fields, ChatRequest& request) {
  request.messages = parse_messages(fields);
  parse_template_variables(fields, request);
  request.continue_final_message = fields.boolean("continue_final_message").value_or(false);
  const auto add = fields.boolean("add_generation_prompt");
  request.add_generation_prompt = add.value_or(!request.continue_final_message);
  if (!request.continue_final_message) return;
  // The openai SDKs can't leave the default out, so only an explicit wish contradicts.
  if (add.value_or(false)) invalid_field("add_generation_prompt", "contradicts continue_final_message");
  if (request.messages.back()["role"] != "assistant") {
    invalid_field("continue_final_message", "the last message must be the assistant's");
  }
}

}  // namespace

ChatRequest parse_chat_request(std::string_view body) {
  const Json json = parse_body(body);
  const Fields fields(json, "");
  ChatRequest request;
  static_cast<GenerationFields&>(request) = parse_generation_fields(json, kOwnFields, kUnsupported);
  parse_prompt(fields, request);
  parse_logprobs(fields, request);
  return request;
}

ChatRequest parse_chat_prompt(const Json& body) {
  ChatRequest request;
  parse_prompt(Fields(body, ""), request);
  return request;
}

}  // namespace qwick::api
