#include "api/chat_service.h"

#include <utility>

#include "api/errors.h"

namespace qwick::api {
namespace {

// Has the prompt opened a think block that the answer is to continue?
bool opens_thinking(std::string_view prompt) {
  const size_t end = prompt.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && prompt.substr(0, end + 1).ends_with("<think>");
}

}  // namespace

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
  return params;
}

uint32_t resolve_max_tokens(const ChatRequest& request, size_t n_prompt_tokens, uint32_t context_length) {
  constexpr const char* kCode = "context_length_exceeded";
  if (n_prompt_tokens >= context_length) {
    throw ApiError(
        400,
        fmt::format("messages: this model's maximum context length is {} tokens, but the prompt has "
                    "{}; shorten the messages",
                    context_length, n_prompt_tokens),
        "messages", kCode);
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

ChatService::ChatService(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         GenerationDefaults defaults, uint32_t context_length)
    : tokenizer_(&tokenizer),
      template_(&chat_template),
      defaults_(std::move(defaults)),
      context_length_(context_length),
      stop_ids_(defaults_.eos_ids),
      guard_(tokenizer) {
  if (const auto eos = tokenizer.eos_id(); stop_ids_.empty() && eos) stop_ids_.push_back(*eos);
}

PreparedChat ChatService::prepare(const ChatRequest& request, uint64_t random_seed) const {
  ChatTemplate::Input input;
  input.messages = request.messages;
  input.variables = request.template_variables;
  if (request.enable_thinking) input.variables["enable_thinking"] = *request.enable_thinking;
  const bool messages_marked = guard_.mark(input.messages);
  const bool marked = guard_.mark(input.variables) || messages_marked;

  PreparedChat prepared;
  std::string prompt;
  try {
    prompt = template_->render(input);
  } catch (const Error& error) {
    throw from_error(error, "messages");
  }
  std::vector<int32_t>& ids = prepared.generation.prompt;
  if (marked) {
    for (const SpecialTextGuard::Piece& piece : guard_.split(prompt)) {
      const std::vector<int32_t> more = tokenizer_->encode(piece.text, piece.special);
      ids.insert(ids.end(), more.begin(), more.end());
    }
  } else {
    ids = tokenizer_->encode(prompt, SpecialText::kParse);
  }
  if (ids.empty()) invalid_field("messages", "the chat template makes an empty prompt of them");

  prepared.generation.sampling = resolve_sampling(request.sampling, defaults_, random_seed);
  prepared.generation.max_tokens = resolve_max_tokens(request, ids.size(), context_length_);
  prepared.generation.stop_ids = stop_ids_;
  prepared.generation.use_cache = request.use_cache;
  prepared.thinking = opens_thinking(prompt)                   ? Thinking::kOpened
                      : request.enable_thinking.value_or(true) ? Thinking::kByTag
                                                               : Thinking::kOff;
  return prepared;
}

}  // namespace qwick::api
