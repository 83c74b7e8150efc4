// The fields that chat and text completions have in common, read from a request's JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/fields.h"
#include "engine/request.h"

namespace qwick::api {

// What the request says about sampling; what it leaves out comes from the model's defaults.
struct SamplingFields {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;  // 0: off
  std::optional<int64_t> seed;
  double presence_penalty = 0, frequency_penalty = 0;
  std::vector<LogitBias> logit_bias = {};
};

SamplingFields parse_sampling(const Fields& fields);

struct GenerationFields {
  std::string model;  // "": not said
  SamplingFields sampling;
  std::vector<std::string> stop;  // none is empty
  std::vector<int32_t> stop_token_ids;
  bool include_stop = false;  // stop strings are part of the answer
  std::optional<uint32_t> max_tokens;
  std::string max_tokens_field;  // which of its names the client used
  uint32_t min_tokens = 0;
  bool ignore_eos = false;
  uint32_t n = 1;                          // answers to give
  uint32_t best_of = 1;                    // answers to make, n or more
  std::optional<uint32_t> n_top_logprobs;  // how many beside each token's own; absent: no log-probabilities
  bool echo = false;                       // the prompt's own text comes before the answer
  bool stream = false;
  bool include_usage = false;  // a last chunk with the usage
  bool use_cache = true;
  std::string cache_salt;                   // cached prefixes are shared among requests of the same alone
  std::vector<std::string> unknown_fields;  // the first few, as written
};

inline constexpr uint32_t kMaxTopLogprobs = 20;

// A field that changes the answer in a way that is not offered: only a value that asks for nothing is let
// through. `neutral` is a JSON list.
struct UnsupportedField {
  std::string_view name;
  std::string_view neutral;
};

// All but logprobs, which the two ask for differently. `own` and `unsupported`: the fields besides the common
// ones, which are therefore not unknown.
GenerationFields parse_generation_fields(const Json& body, std::span<const std::string_view> own,
                                         std::span<const UnsupportedField> unsupported);

}  // namespace qwick::api
