// The body of POST /v1/chat/completions as a typed request, or an ApiError that names the field.
// What OpenAI or its relatives know and we can't do is refused by name; fields nobody knows are
// accepted and listed, so that the server can log them.
#pragma once

#include <optional>
#include <string_view>

#include "api/generation_fields.h"
#include "base/json.h"

namespace qwick::api {

struct ChatRequest : GenerationFields {
  // As chat templates want them: role (never "developer"), content always a string, and where given
  // reasoning_content, name, tool_calls, tool_call_id.
  Json messages = Json::array();
  std::optional<bool> enable_thinking;
  Json template_variables = Json::object();  // the other members of chat_template_kwargs
  bool add_generation_prompt = true;         // open the assistant's turn after the messages
  bool continue_final_message = false;       // the last message is the beginning of the answer
};

ChatRequest parse_chat_request(std::string_view body);
// What it says about the prompt alone; for /apply-template and /tokenize.
ChatRequest parse_chat_prompt(const Json& body);

}  // namespace qwick::api
