// Endpoints about text and tokens that generate nothing: body in, answer out. Shapes are those of vLLM and
// llama.cpp's server, whose names are both understood. Throw ApiError.
#pragma once

#include <string>
#include <string_view>

#include "api/chat_service.h"

namespace qwick::api {

// {"prompt" or "content": text} or {"messages": […]}, "with_pieces" or "return_token_strs" ->
// {"count":…, "max_model_len":…, "tokens":[…], "token_strs":[…]}
std::string tokenize(const ChatService& service, std::string_view body);
// {"tokens":[…]} -> {"prompt":…, "content":…}
std::string detokenize(const ChatService& service, std::string_view body);
// {"messages":[…]} and what else makes a chat's prompt -> {"prompt":…}
std::string apply_template(const ChatService& service, std::string_view body);

}  // namespace qwick::api
