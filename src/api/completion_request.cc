#include "api/completion_request.h"

#include <algorithm>
#include <array>

#include "api/body.h"
#include "api/errors.h"

namespace qwick::api {
namespace {

constexpr size_t kMaxPrompts = 256;
constexpr size_t kMaxAnswers = 256;
constexpr uint32_t kDefaultMaxTokens = 16;  // OpenAI's

constexpr auto kOwnFields = std::to_array<std::string_view>({"prompt"});

constexpr auto kUnsupported = std::to_array<UnsupportedField>({
    {"suffix", R"([""])"},
});

// A string, a list of strings, a list of ids, or a list of lists of ids.
std::vector<TextOrIds> parse_prompts(const Fields& fields) {
  const Json* prompt = fields.find("prompt");
  if (prompt == nullptr) invalid_field("prompt", "is missing");
  if (prompt->is_string()) return {prompt->get<std::string>()};
  if (!prompt->is_array()) {
    invalid_field("prompt", "must be a string, a list of strings or token ids, not {}", json_kind(*prompt));
  }
  if (prompt->empty()) invalid_field("prompt", "must not be empty");
  if (prompt->front().is_number()) return {parse_token_ids(*prompt, "prompt")};
  if (prompt->size() > kMaxPrompts)
    invalid_field("prompt", "must not have more than {} prompts", kMaxPrompts);
  std::vector<TextOrIds> prompts;
  for (const Json& one : *prompt) {
    const std::string path = fmt::format("prompt[{}]", prompts.size());
    if (one.is_string()) {
      prompts.emplace_back(one.get<std::string>());
    } else if (one.is_array()) {
      prompts.emplace_back(parse_token_ids(one, path));
    } else {
      invalid_field(path, "must be a string or a list of token ids, not {}", json_kind(one));
    }
  }
  return prompts;
}

}  // namespace

CompletionRequest parse_completion_request(std::string_view body) {
  Json json = parse_body(body);
  const Fields fields(json, "");
  const Json* max_tokens = fields.find("max_tokens");
  const bool score_only = max_tokens != nullptr && *max_tokens == 0;
  if (score_only) json["max_tokens"] = 1;
  CompletionRequest request;
  static_cast<GenerationFields&>(request) = parse_generation_fields(json, kOwnFields, kUnsupported);
  request.score_only = score_only;
  request.prompts = parse_prompts(fields);
  if (request.prompts.size() * request.best_of > kMaxAnswers) {
    invalid_field("prompt", "a request may have {} answers at most, this would have {}", kMaxAnswers,
                  request.prompts.size() * request.best_of);
  }
  if (score_only && !request.echo) invalid_field("max_tokens", "can be 0 only with \"echo\": true");
  if (!request.max_tokens) {
    request.max_tokens = std::max(kDefaultMaxTokens, request.min_tokens);
    request.max_tokens_field = "max_tokens";
  }
  if (const auto n_top = fields.integer("logprobs", 0, kMaxTopLogprobs))
    request.n_top_logprobs = static_cast<uint32_t>(*n_top);
  return request;
}

}  // namespace qwick::api
