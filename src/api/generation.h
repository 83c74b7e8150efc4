// From what a request says of sampling and lengths to what the engine runs: the model's defaults where it
// says nothing, lengths checked against the context, ids against the vocabulary. For chat and completions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/generation_fields.h"
#include "engine/request.h"
#include "model/config.h"
#include "text/tokenizer.h"

namespace qwick::api {

// temperature, top_k, top_p, min_p and repetition_penalty: the request's, else the model's, else off
// (temperature 1). A model that says do_sample false is greedy unless the request has a temperature.
// Without a seed in the request, `random_seed` is used.
SamplingParams resolve_sampling(const SamplingFields& request, const GenerationDefaults& defaults,
                                uint64_t random_seed);

// Tokens to generate: the request's, which must fit, else what is left of the context. Throws ApiError 400
// (code "context_length_exceeded") naming the lengths. `prompt_field`: what the client is to shorten.
uint32_t resolve_max_tokens(const GenerationFields& request, size_t n_prompt_tokens, uint32_t context_length,
                            const std::string& prompt_field = "messages");

class GenerationResolver {
 public:
  GenerationResolver(const Tokenizer& tokenizer, GenerationDefaults defaults, uint32_t context_length);

  uint32_t context_length() const { return context_length_; }

  // For one answer; further ones of the same request take the next seeds. Throws ApiError.
  GenerationRequest resolve(const GenerationFields& request, std::vector<int32_t> prompt,
                            const std::string& prompt_field, uint64_t random_seed) const;
  // Throws ApiError 400 naming the field where an id is none of the model's.
  void check_ids(std::span<const int32_t> ids, const std::string& field) const;

 private:
  GenerationDefaults defaults_;
  uint32_t context_length_;
  int32_t vocab_size_;
  std::vector<int32_t> eos_ids_;
};

}  // namespace qwick::api
