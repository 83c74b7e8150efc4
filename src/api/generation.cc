#include "api/generation.h"

#include <utility>

#include "api/errors.h"

namespace qwick::api {

SamplingParams resolve_sampling(const SamplingFields& request, const GenerationDefaults& defaults,
                                uint64_t random_seed) {
  const double default_temperature =
      defaults.do_sample.value_or(true) ? defaults.temperature.value_or(1.0) : 0.0;
  SamplingParams params;
  params.temperature = request.temperature.value_or(default_temperature);
  params.top_k = request.top_k.value_or(defaults.top_k.value_or(0));
  params.top_p = request.top_p.value_or(defaults.top_p.value_or(1.0));
  params.min_p = request.min_p.value_or(defaults.min_p.value_or(0.0));
  params.repetition_penalty = request.repetition_penalty.value_or(defaults.repetition_penalty.value_or(1.0));
  params.seed = request.seed ? static_cast<uint64_t>(*request.seed) : random_seed;
  params.presence_penalty = request.presence_penalty;
  params.frequency_penalty = request.frequency_penalty;
  params.logit_bias = request.logit_bias;
  return params;
}

uint32_t resolve_max_tokens(const GenerationFields& request, size_t n_prompt_tokens, uint32_t context_length,
                            const std::string& prompt_field) {
  constexpr const char* kCode = "context_length_exceeded";
  if (n_prompt_tokens >= context_length) {
    throw ApiError(
        400,
        fmt::format(
            "{}: the prompt is too long: this model's maximum context length is {} tokens, but it has {}; "
            "shorten it",
            prompt_field, context_length, n_prompt_tokens),
        prompt_field, kCode);
  }
  const auto n_left = static_cast<uint32_t>(context_length - n_prompt_tokens);
  const uint32_t n_asked = request.max_tokens.value_or(n_left);
  if (n_asked > n_left) {
    throw ApiError(
        400,
        fmt::format("{}: this model's maximum context length is {} tokens, but the prompt has {} and "
                    "{} are to be generated; ask for at most {}",
                    request.max_tokens_field, context_length, n_prompt_tokens, n_asked, n_left),
        request.max_tokens_field, kCode);
  }
  return n_asked;
}

GenerationResolver::GenerationResolver(const Tokenizer& tokenizer, GenerationDefaults defaults,
                                       uint32_t context_length)
    : defaults_(std::move(defaults)),
      context_length_(context_length),
      vocab_size_(tokenizer.vocab_size()),
      eos_ids_(defaults_.eos_ids) {
  if (const auto eos = tokenizer.eos_id(); eos_ids_.empty() && eos) eos_ids_.push_back(*eos);
}

void GenerationResolver::check_ids(std::span<const int32_t> ids, const std::string& field) const {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size_)
      invalid_field(field, "the model has no token {}; ids are below {}", id, vocab_size_);
  }
}

GenerationRequest GenerationResolver::resolve(const GenerationFields& request, std::vector<int32_t> prompt,
                                              const std::string& prompt_field, uint64_t random_seed) const {
  check_ids(request.stop_token_ids, "stop_token_ids");
  for (const LogitBias& bias : request.sampling.logit_bias) check_ids({&bias.id, 1}, "logit_bias");
  GenerationRequest generation;
  generation.sampling = resolve_sampling(request.sampling, defaults_, random_seed);
  generation.max_tokens = resolve_max_tokens(request, prompt.size(), context_length_, prompt_field);
  if (request.min_tokens > generation.max_tokens)
    invalid_field("min_tokens", "the context has room for {} tokens only", generation.max_tokens);
  generation.min_tokens = request.min_tokens;
  if (!request.ignore_eos) generation.stop_ids = eos_ids_;
  generation.stop_ids.insert(generation.stop_ids.end(), request.stop_token_ids.begin(),
                             request.stop_token_ids.end());
  generation.use_cache = request.use_cache;
  generation.n_top_logprobs = request.n_top_logprobs;
  // To choose the best of several they are needed, asked for or not.
  if (request.best_of > request.n && !generation.n_top_logprobs) generation.n_top_logprobs = 0;
  generation.prompt = std::move(prompt);
  return generation;
}

}  // namespace qwick::api
