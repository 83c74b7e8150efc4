// Log-probabilities of a row of logits: what the API's "logprobs" report and perplexity is made of.
#pragma once

#include <cstdint>
#include <span>

#include "engine/request.h"

namespace qwick {

// In the place of minus infinity, which JSON can't say (vLLM's choice too).
inline constexpr float kLowestLogprob = -9999.0F;

// What to subtract from a logit to get the logarithm of its probability.
double log_sum_exp(std::span<const float> logits);

// Of `id`, and of the `n_top` most probable ids (equal ones by id). `logits`: [vocab_size].
TokenLogprobs token_logprobs(std::span<const float> logits, int32_t id, uint32_t n_top);

}  // namespace qwick
