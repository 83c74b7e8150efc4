// The body of POST /v1/completions as a typed request, or an ApiError that names the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/generation_fields.h"

namespace qwick::api {

using TextOrIds = std::variant<std::string, std::vector<int32_t>>;

struct CompletionRequest : GenerationFields {
  std::vector<TextOrIds> prompts;  // one or more
  bool score_only = false;         // max_tokens 0: nothing is to be generated (max_tokens is then 1)
};

CompletionRequest parse_completion_request(std::string_view body);

}  // namespace qwick::api
