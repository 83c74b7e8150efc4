// The body of POST /v1/chat/completions as a typed request, or an ApiError that names the field.
// What OpenAI or its relatives know and we can't do is refused by name; fields nobody knows are
// accepted and listed, so that the server can log them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace qwick::api {

// What the request says about sampling; what it leaves out comes from the model's defaults.
struct SamplingFields {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;  // 0: off
  std::optional<int64_t> seed;
};

struct ChatRequest {
  std::string model;  // "": not said
  // As chat templates want them: role (never "developer"), content always a string, and where given
  // reasoning_content, name, tool_calls, tool_call_id.
  Json messages = Json::array();
  SamplingFields sampling;
  std::vector<std::string> stop;  // none is empty
  std::optional<uint32_t> max_tokens;
  std::string max_tokens_field;  // which of its three names the client used
  bool stream = false;
  bool include_usage = false;  // a last chunk with the usage
  bool use_cache = true;
  std::optional<bool> enable_thinking;
  Json template_variables = Json::object();  // the other members of chat_template_kwargs
  std::vector<std::string> unknown_fields;   // the first few, as written
};

ChatRequest parse_chat_request(std::string_view body);

}  // namespace qwick::api
