#include "api/generation_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "api/errors.h"

namespace qwick::api {
namespace {

constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 1024;
constexpr size_t kMaxStopIds = 64;
constexpr size_t kMaxBiases = 1024;
constexpr size_t kMaxSaltBytes = 1024;
constexpr size_t kMaxUnknownFields = 16;
constexpr uint32_t kMaxChoices = 32;
constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();

// Read below, or without influence on the answer.
constexpr auto kCommonFields = std::to_array<std::string_view>({
    "model",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "seed",
    "stop",
    "stop_token_ids",
    "include_stop_str_in_output",
    "max_completion_tokens",
    "max_tokens",
    "max_new_tokens",
    "min_tokens",
    "ignore_eos",
    "n",
    "best_of",
    "logprobs",
    "echo",
    "stream",
    "stream_options",
    "use_cache",
    "cache_salt",
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
});

// What vLLM and SGLang have besides. It would change the answer, so it is not just ignored.
constexpr auto kCommonUnsupported = std::to_array<UnsupportedField>({
    {"response_format", R"([{"type":"text"}])"},
    {"prompt_logprobs", "[0]"},
    {"bad_words", "[[]]"},
    {"allowed_token_ids", "[[]]"},
    {"structured_outputs", "[]"},
    {"guided_json", "[]"},
    {"guided_regex", "[]"},
    {"guided_choice", "[]"},
    {"guided_grammar", "[]"},
    {"regex", "[]"},
    {"ebnf", "[]"},
    {"stop_regex", "[[]]"},
    {"truncate_prompt_tokens", "[]"},
    {"use_beam_search", "[false]"},
    {"skip_special_tokens", "[true]"},
});

// {"token id": bias, …}
std::vector<LogitBias> parse_logit_bias(const Fields& fields) {
  const Json* json = fields.find("logit_bias");
  if (json == nullptr) return {};
  const Fields biases(*json, "logit_bias");
  if (json->size() > kMaxBiases) invalid_field("logit_bias", "must not have more than {} ids", kMaxBiases);
  std::vector<LogitBias> parsed;
  for (const auto& [name, value] : json->items()) {
    int32_t id = -1;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data(), end, id).ptr != end || id < 0 || std::to_string(id) != name) {
      invalid_field("logit_bias", "its names must be token ids, in digits");
    }
    if (const auto bias = biases.number(name, -100, 100)) parsed.push_back({id, static_cast<float>(*bias)});
  }
  return parsed;
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

std::vector<int32_t> parse_stop_ids(const Fields& fields) {
  const Json* stop = fields.find("stop_token_ids");
  if (stop == nullptr) return {};
  std::vector<int32_t> ids = parse_token_ids(*stop, "stop_token_ids");
  if (ids.size() > kMaxStopIds)
    invalid_field("stop_token_ids", "must not have more than {} ids", kMaxStopIds);
  return ids;
}

// Three names for one thing: all are checked, the newest counts.
void parse_lengths(const Fields& fields, GenerationFields& parsed) {
  for (const std::string_view name : {"max_new_tokens", "max_tokens", "max_completion_tokens"}) {
    if (const auto value = fields.integer(name, 1, kMaxInt)) {
      parsed.max_tokens = static_cast<uint32_t>(*value);
      parsed.max_tokens_field = name;
    }
  }
  parsed.min_tokens = static_cast<uint32_t>(fields.integer("min_tokens", 0, kMaxInt).value_or(0));
  if (parsed.max_tokens && parsed.min_tokens > *parsed.max_tokens) {
    invalid_field("min_tokens", "must not be more than {}", parsed.max_tokens_field);
  }
}

std::string parse_salt(const Fields& fields) {
  std::string salt = fields.string("cache_salt").value_or("");
  if (salt.size() > kMaxSaltBytes)
    invalid_field("cache_salt", "must not be longer than {} bytes", kMaxSaltBytes);
  return salt;
}

void refuse_unsupported(const Fields& fields, std::span<const UnsupportedField> unsupported) {
  for (const UnsupportedField& field : unsupported) {
    const Json* value = fields.find(field.name);
    if (value == nullptr) continue;
    const Json neutral = Json::parse(field.neutral);
    if (std::find(neutral.begin(), neutral.end(), *value) != neutral.end()) continue;
    std::string allowed = "leave it out";
    for (const Json& one : neutral) allowed += " or send " + one.dump();
    invalid_field(std::string(field.name), "not supported with this value; {}", allowed);
  }
}

}  // namespace

SamplingFields parse_sampling(const Fields& fields) {
  SamplingFields sampling;
  sampling.temperature = fields.number("temperature", 0, 2);
  sampling.top_p = fields.number("top_p", 0, 1);
  sampling.min_p = fields.number("min_p", 0, 1);
  sampling.repetition_penalty = fields.number("repetition_penalty", 0.01, 100);
  sampling.presence_penalty = fields.number("presence_penalty", -2, 2).value_or(0);
  sampling.frequency_penalty = fields.number("frequency_penalty", -2, 2).value_or(0);
  if (const auto top_k = fields.integer("top_k", -1, kMaxInt)) {
    sampling.top_k = static_cast<int32_t>(std::max<int64_t>(*top_k, 0));  // -1 also means off
  }
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  sampling.seed = fields.integer("seed", -kAny - 1, kAny);
  sampling.logit_bias = parse_logit_bias(fields);
  return sampling;
}

GenerationFields parse_generation_fields(const Json& body, std::span<const std::string_view> own,
                                         std::span<const UnsupportedField> unsupported) {
  const Fields fields(body, "");
  refuse_unsupported(fields, kCommonUnsupported);
  refuse_unsupported(fields, unsupported);
  GenerationFields parsed;
  parsed.model = fields.string("model").value_or("");
  parsed.sampling = parse_sampling(fields);
  parsed.stop = parse_stop(fields);
  parsed.stop_token_ids = parse_stop_ids(fields);
  parsed.include_stop = fields.boolean("include_stop_str_in_output").value_or(false);
  parse_lengths(fields, parsed);
  parsed.ignore_eos = fields.boolean("ignore_eos").value_or(false);
  parsed.n = static_cast<uint32_t>(fields.integer("n", 1, kMaxChoices).value_or(1));
  parsed.best_of = static_cast<uint32_t>(fields.integer("best_of", 1, kMaxChoices).value_or(parsed.n));
  parsed.echo = fields.boolean("echo").value_or(false);
  parsed.stream = fields.boolean("stream").value_or(false);
  if (const Json* options = fields.find("stream_options")) {
    parsed.include_usage = Fields(*options, "stream_options").boolean("include_usage").value_or(false);
  }
  parsed.use_cache = fields.boolean("use_cache").value_or(true);
  parsed.cache_salt = parse_salt(fields);
  if (parsed.best_of < parsed.n) invalid_field("best_of", "must not be less than n");
  if (parsed.best_of > parsed.n && parsed.stream)
    invalid_field("best_of", "can't be more than n in a stream");
  for (const auto& [name, value] : body.items()) {
    if (parsed.unknown_fields.size() == kMaxUnknownFields) break;
    const auto is_in = [&key = name](auto&& names) {
      return std::find(names.begin(), names.end(), key) != names.end();
    };
    const auto is_unsupported = [&key = name](auto&& list) {
      return std::any_of(list.begin(), list.end(),
                         [&key](const UnsupportedField& u) { return u.name == key; });
    };
    const bool is_known = is_in(kCommonFields) || is_in(own) || is_unsupported(kCommonUnsupported) ||
                          is_unsupported(unsupported);
    if (!is_known) parsed.unknown_fields.push_back(name);
  }
  return parsed;
}

}  // namespace qwick::api
