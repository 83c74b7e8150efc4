#include "api/chat_request.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/body.h"
#include "api/chat_messages.h"
#include "api/errors.h"
#include "api/fields.h"

namespace qwick::api {
namespace {

constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 1024;
constexpr size_t kMaxUnknownFields = 16;
constexpr size_t kMaxTemplateVariables = 64;
constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();

// Read below, or without influence on the answer.
constexpr auto kKnownFields = std::to_array<std::string_view>({
    "model",
    "messages",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "seed",
    "stop",
    "max_completion_tokens",
    "max_tokens",
    "max_new_tokens",
    "stream",
    "stream_options",
    "use_cache",
    "enable_thinking",
    "chat_template_kwargs",
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "parallel_tool_calls",
});

// Fields that change the answer in ways that are not offered: only a value that asks for nothing is
// let through. `neutral` is JSON.
struct Unsupported {
  std::string_view name;
  std::string_view neutral;
};
constexpr auto kUnsupported = std::to_array<Unsupported>({
    {"n", "[1]"},
    {"best_of", "[1]"},
    {"logprobs", "[false]"},
    {"top_logprobs", "[0]"},
    {"presence_penalty", "[0]"},
    {"frequency_penalty", "[0]"},
    {"logit_bias", "[{}]"},
    {"min_tokens", "[0]"},
    {"ignore_eos", "[false]"},
    {"stop_token_ids", "[[]]"},
    {"include_stop_str_in_output", "[false]"},
    {"echo", "[false]"},
    {"add_generation_prompt", "[true]"},
    {"continue_final_message", "[false]"},
    {"tools", "[[]]"},
    {"tool_choice", R"(["none","auto"])"},
    {"functions", "[[]]"},
    {"function_call", R"(["none","auto"])"},
    {"response_format", R"([{"type":"text"}])"},
    {"modalities", R"([["text"]])"},
    {"audio", "[]"},
});

void refuse_unsupported(const Fields& fields) {
  for (const Unsupported& unsupported : kUnsupported) {
    const Json* value = fields.find(unsupported.name);
    if (value == nullptr) continue;
    const Json neutral = Json::parse(unsupported.neutral);
    if (std::find(neutral.begin(), neutral.end(), *value) != neutral.end()) continue;
    std::string allowed = "leave it out";
    for (const Json& one : neutral) allowed += " or send " + one.dump();
    invalid_field(std::string(unsupported.name), "not supported with this value; {}", allowed);
  }
}

std::vector<std::string> unknown_fields(const Json& body) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : body.items()) {
    if (unknown.size() == kMaxUnknownFields) break;
    const bool known = std::find(kKnownFields.begin(), kKnownFields.end(), name) != kKnownFields.end() ||
                       std::any_of(kUnsupported.begin(), kUnsupported.end(),
                                   [&key = name](const Unsupported& u) { return u.name == key; });
    if (!known) unknown.push_back(name);
  }
  return unknown;
}

SamplingFields parse_sampling(const Fields& fields) {
  SamplingFields sampling;
  sampling.temperature = fields.number("temperature", 0, 2);
  sampling.top_p = fields.number("top_p", 0, 1);
  sampling.min_p = fields.number("min_p", 0, 1);
  sampling.repetition_penalty = fields.number("repetition_penalty", 0.01, 100);
  if (const auto top_k = fields.integer("top_k", -1, kMaxInt)) {
    sampling.top_k = static_cast<int32_t>(std::max<int64_t>(*top_k, 0));  // -1 also means off
  }
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  sampling.seed = fields.integer("seed", -kAny - 1, kAny);
  return sampling;
}

std::string parse_stop_string(const Json& value, const std::string& path) {
  if (!value.is_string()) invalid_field(path, "must be a string, not {}", json_kind(value));
  auto text = value.get<std::string>();
  if (text.empty()) invalid_field(path, "must not be empty");
  if (text.size() > kMaxStopBytes) invalid_field(path, "must not be longer than {} bytes", kMaxStopBytes);
  return text;
}

std::vector<std::string> parse_stop(const Fields& fields) {
  const Json* stop = fields.find("stop");
  if (stop == nullptr) return {};
  if (stop->is_string()) return {parse_stop_string(*stop, "stop")};
  if (!stop->is_array())
    invalid_field("stop", "must be a string or a list of strings, not {}", json_kind(*stop));
  if (stop->size() > kMaxStops) invalid_field("stop", "must not have more than {} strings", kMaxStops);
  std::vector<std::string> strings;
  for (const Json& one : *stop) {
    strings.push_back(parse_stop_string(one, fmt::format("stop[{}]", strings.size())));
  }
  return strings;
}

// Three names for one thing: all are checked, the newest counts.
void parse_max_tokens(const Fields& fields, ChatRequest& request) {
  for (const std::string_view name : {"max_new_tokens", "max_tokens", "max_completion_tokens"}) {
    if (const auto value = fields.integer(name, 1, kMaxInt)) {
      request.max_tokens = static_cast<uint32_t>(*value);
      request.max_tokens_field = name;
    }
  }
}

void parse_template_variables(const Fields& fields, ChatRequest& request) {
  request.enable_thinking = fields.boolean("enable_thinking");
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

}  // namespace

ChatRequest parse_chat_request(std::string_view body) {
  const Json json = parse_body(body);
  const Fields fields(json, "");
  refuse_unsupported(fields);
  ChatRequest request;
  request.model = fields.string("model").value_or("");
  request.messages = parse_messages(fields);
  request.sampling = parse_sampling(fields);
  request.stop = parse_stop(fields);
  parse_max_tokens(fields, request);
  request.stream = fields.boolean("stream").value_or(false);
  if (const Json* options = fields.find("stream_options")) {
    request.include_usage = Fields(*options, "stream_options").boolean("include_usage").value_or(false);
  }
  request.use_cache = fields.boolean("use_cache").value_or(true);
  parse_template_variables(fields, request);
  request.unknown_fields = unknown_fields(json);
  return request;
}

}  // namespace qwick::api
