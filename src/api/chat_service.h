// From a typed chat request to what the engine runs: prompt ids by the model's template, and the rest as
// GenerationResolver has it. Holds views of the loaded model, which must outlive it; immutable and safe to
// share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/chat_request.h"
#include "api/generation.h"
#include "api/reasoning.h"
#include "api/special_text_guard.h"
#include "engine/request.h"
#include "model/config.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace qwick::api {

struct PreparedChat {
  GenerationRequest generation;
  Thinking thinking = Thinking::kByTag;
  std::string echo;  // what the client wants to see before the answer
};

class ChatService {
 public:
  ChatService(const Tokenizer& tokenizer, const ChatTemplate& chat_template, GenerationDefaults defaults,
              uint32_t context_length);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const GenerationResolver& resolver() const { return resolver_; }
  uint32_t context_length() const { return resolver_.context_length(); }

  // Renders and encodes: milliseconds for long conversations. Throws ApiError.
  PreparedChat prepare(const ChatRequest& request, uint64_t random_seed) const;
  // The prompt alone.
  std::string prompt_text(const ChatRequest& request) const;
  std::vector<int32_t> prompt_ids(const ChatRequest& request) const;

 private:
  struct Prompt {
    std::string text;
    bool is_marked = false;  // by guard_
  };

  Prompt render(const ChatRequest& request) const;
  std::vector<int32_t> encode(const Prompt& prompt) const;

  const Tokenizer* tokenizer_;
  const ChatTemplate* template_;
  GenerationResolver resolver_;
  SpecialTextGuard guard_;
};

}  // namespace qwick::api
