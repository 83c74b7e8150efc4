// From a typed chat request to what the engine runs: prompt ids by the model's template, sampling by
// the request over the model's defaults, lengths checked against the context. Holds views of the
// loaded model, which must outlive it; immutable and safe to share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/chat_request.h"
#include "api/reasoning.h"
#include "api/special_text_guard.h"
#include "engine/request.h"
#include "model/config.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace qwick::api {

// temperature, top_k, top_p, min_p and repetition_penalty: the request's, else the model's, else off
// (temperature 1). A model that says do_sample false is greedy unless the request has a temperature.
// Without a seed in the request, `random_seed` is used.
SamplingParams resolve_sampling(const SamplingFields& request, const GenerationDefaults& defaults,
                                uint64_t random_seed);

// Tokens to generate: the request's, which must fit, else what is left of the context. Throws ApiError 400
// (code "context_length_exceeded") naming the lengths.
uint32_t resolve_max_tokens(const ChatRequest& request, size_t n_prompt_tokens, uint32_t context_length);

struct PreparedChat {
  GenerationRequest generation;
  Thinking thinking = Thinking::kByTag;
};

class ChatService {
 public:
  ChatService(const Tokenizer& tokenizer, const ChatTemplate& chat_template, GenerationDefaults defaults,
              uint32_t context_length);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  uint32_t context_length() const { return context_length_; }

  // Renders and encodes: milliseconds for long conversations. Throws ApiError.
  PreparedChat prepare(const ChatRequest& request, uint64_t random_seed) const;

 private:
  const Tokenizer* tokenizer_;
  const ChatTemplate* template_;
  GenerationDefaults defaults_;
  uint32_t context_length_;
  std::vector<int32_t> stop_ids_;
  SpecialTextGuard guard_;
};

}  // namespace qwick::api
