// A generation request as the engine sees it: ids in, ids out. Text, templates and stop strings are
// the API layer's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace qwick {

// Semantics of Hugging Face transformers, applied in its order: repetition penalty, then (only when
// sampling) temperature, top-k, top-p, min-p.
struct SamplingParams {
  double temperature = 1.0;         // 0: greedy
  int32_t top_k = 0;                // 0: off
  double top_p = 1.0;               // 1: off
  double min_p = 0.0;               // 0: off
  double repetition_penalty = 1.0;  // over prompt and output; 1: off
  uint64_t seed = 0;                // random numbers are a function of (seed, position) alone
};

struct GenerationRequest {
  std::vector<int32_t> prompt;  // 1 or more ids, all inside the vocabulary
  SamplingParams sampling;
  uint32_t max_tokens = 0;        // 1 or more; prompt + max_tokens fit the context
  std::vector<int32_t> stop_ids;  // end-of-turn ids: generating one ends the answer
  bool use_cache = true;          // may reuse and leave cached prefixes; never changes the answer
};

enum class FinishReason { kStop, kLength, kCancelled };

// One event per generated token; the last one of a request has finish set. With kStop its token is
// the stop id that ended the answer and no part of it; with kLength it is the last of the answer; with
// kCancelled there is none.
struct TokenEvent {
  uint64_t request_id = 0;
  std::optional<int32_t> token;
  std::optional<FinishReason> finish;
  uint32_t n_reused = 0;  // prompt tokens that came from the prefix cache
  // With a token: when the first step with this request began, and when the step that gave the token ended.
  std::chrono::steady_clock::time_point started = {};
  std::chrono::steady_clock::time_point at = {};
};

}  // namespace qwick
