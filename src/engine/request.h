// A generation request as the engine sees it: ids in, ids out. Text, templates and stop strings are
// the API layer's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace qwick {

struct LogitBias {
  int32_t id = 0;
  float bias = 0;  // added to the logit
};

// Applied in this order: biases, repetition penalty, frequency and presence penalty (as vLLM); then, only
// when sampling, temperature, top-k, top-p, min-p (as Hugging Face transformers).
struct SamplingParams {
  double temperature = 1.0;         // 0: greedy
  int32_t top_k = 0;                // 0: off
  double top_p = 1.0;               // 1: off
  double min_p = 0.0;               // 0: off
  double repetition_penalty = 1.0;  // over prompt and output; 1: off
  uint64_t seed = 0;                // random numbers are a function of (seed, position) alone
  double presence_penalty = 0.0;    // taken from the logit of what was generated before; 0: off
  double frequency_penalty = 0.0;   // the same, for each time that it was generated
  std::vector<LogitBias> logit_bias = {};

  bool depends_on_past() const {
    return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0;
  }
};

struct GenerationRequest {
  std::vector<int32_t> prompt;  // 1 or more ids, all inside the vocabulary
  SamplingParams sampling;
  uint32_t max_tokens = 0;                 // 1 or more; prompt + max_tokens fit the context
  uint32_t min_tokens = 0;                 // until so many are generated, stop ids are not
  std::vector<int32_t> stop_ids;           // end-of-turn ids: generating one ends the answer
  bool use_cache = true;                   // may reuse and leave cached prefixes; never changes the answer
  uint64_t cache_space = 0;                // cached prefixes are shared only with requests of the same
  std::optional<uint32_t> n_top_logprobs;  // log-probabilities of each token, and of so many of the best
  bool prompt_logprobs = false;            // of the prompt's tokens too; reuses no cached prefix
};

struct IdLogprob {
  int32_t id = 0;
  float logprob = 0;
};

// The model's own distribution, before penalties and temperature.
struct TokenLogprobs {
  IdLogprob token;
  std::vector<IdLogprob> top;  // best first
};

enum class FinishReason { kStop, kLength, kCancelled };

// One event per generated token; the last one of a request has finish set. With kStop its token is
// the stop id that ended the answer and no part of it; with kLength it is the last of the answer; with
// kCancelled there is none. Events without a token and a finish bring log-probabilities of the prompt.
struct TokenEvent {
  uint64_t request_id = 0;
  std::optional<int32_t> token;
  std::optional<FinishReason> finish;
  uint32_t n_reused = 0;  // prompt tokens that came from the prefix cache
  // With a token: when the first step with this request began, and when the step that gave the token ended.
  std::chrono::steady_clock::time_point started = {};
  std::chrono::steady_clock::time_point at = {};
  std::optional<TokenLogprobs> logprobs = {};       // of `token`, where the request asked
  std::vector<TokenLogprobs> prompt_logprobs = {};  // of the prompt's second token and on, in several events
};

}  // namespace qwick
