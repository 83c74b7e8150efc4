#include "api/completion_service.h"

#include "api/errors.h"

namespace qwick::api {

std::vector<PreparedCompletion> CompletionService::prepare(const CompletionRequest& request,
                                                           uint64_t random_seed) const {
  std::vector<PreparedCompletion> prepared;
  for (const TextOrIds& prompt : request.prompts) {
    const std::string field =
        request.prompts.size() == 1 ? "prompt" : fmt::format("prompt[{}]", prepared.size());
    std::vector<int32_t> ids;
    if (const auto* text = std::get_if<std::string>(&prompt)) {
      ids = tokenizer_->encode(*text, SpecialText::kParse);
    } else {
      ids = std::get<std::vector<int32_t>>(prompt);
      resolver_->check_ids(ids, field);
    }
    if (ids.empty()) invalid_field(field, "must not be empty");
    PreparedCompletion one;
    if (request.echo) one.echo = tokenizer_->decode(ids);
    one.generation = resolver_->resolve(request, std::move(ids), field, random_seed);
    one.generation.prompt_logprobs = request.echo && request.n_top_logprobs;
    prepared.push_back(std::move(one));
  }
  return prepared;
}

}  // namespace qwick::api
