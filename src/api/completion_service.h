// From a typed text completion to what the engine runs. Holds a view of the tokenizer, which must outlive it;
// immutable and safe to share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/completion_request.h"
#include "api/generation.h"
#include "text/tokenizer.h"

namespace qwick::api {

struct PreparedCompletion {
  GenerationRequest generation;
  std::string echo;  // the prompt's text, where it is to be shown before the answer
};

class CompletionService {
 public:
  CompletionService(const Tokenizer& tokenizer, const GenerationResolver& resolver)
      : tokenizer_(&tokenizer), resolver_(&resolver) {}

  // One for each prompt. Prompts are taken as they are: no template, no BOS; what spells a special token is
  // one. Throws ApiError.
  std::vector<PreparedCompletion> prepare(const CompletionRequest& request, uint64_t random_seed) const;

 private:
  const Tokenizer* tokenizer_;
  const GenerationResolver* resolver_;
};

}  // namespace qwick::api
