#include "cli/sampling.h"

#include <algorithm>
#include <array>
#include <string>

#include "api/errors.h"
#include "api/generation_fields.h"
#include "base/error.h"
#include "base/json.h"

namespace qwick::cli {
namespace {

constexpr auto kNames =
    std::to_array<std::string_view>({"temperature", "top_p", "top_k", "min_p", "repetition_penalty"});

Json parse_pairs(std::string_view text) {
  Json json = Json::object();
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const Json value = Json::parse(pair.substr(std::min(equals + 1, pair.size())), nullptr, false);
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end() || !value.is_number()) {
      fail(ErrorCode::kInvalidArgument,
           "--sampling: \"{}\" is not NAME=NUMBER with a name of temperature, top_p, top_k, min_p and "
           "repetition_penalty",
           pair);
    }
    json[std::string(name)] = value;
  }
  return json;
}

}  // namespace

GenerationDefaults with_sampling(GenerationDefaults defaults, std::string_view text) {
  const Json json = parse_pairs(text);
  api::SamplingFields given;
  try {
    given = api::parse_sampling(api::Fields(json, ""));
  } catch (const api::ApiError& error) {
    fail(ErrorCode::kInvalidArgument, "--sampling: {}", error.what());
  }
  if (given.temperature) defaults.do_sample = true;
  if (given.temperature) defaults.temperature = given.temperature;
  if (given.top_p) defaults.top_p = given.top_p;
  if (given.top_k) defaults.top_k = given.top_k;
  if (given.min_p) defaults.min_p = given.min_p;
  if (given.repetition_penalty) defaults.repetition_penalty = given.repetition_penalty;
  return defaults;
}

}  // namespace qwick::cli
