#include "api/answer.h"

namespace qwick::api {

Answer::Answer(const Tokenizer& tokenizer, Thinking thinking, const std::vector<std::string>& stops,
               uint32_t n_prompt_tokens)
    : decoder_(tokenizer), reasoning_(thinking), stops_(stops) {
  usage_.prompt_tokens = n_prompt_tokens;
}

AnswerText Answer::push(int32_t token) {
  if (ended()) return {};
  ++usage_.completion_tokens;
  const bool was_reasoning = reasoning_.in_reasoning();
  AnswerText text = reasoning_.push(decoder_.push(token));
  // Reasoning comes first, so all tokens up to here are part of it.
  if (was_reasoning || reasoning_.in_reasoning()) usage_.reasoning_tokens = usage_.completion_tokens;
  return show(std::move(text));
}

AnswerText Answer::finish(FinishReason reason) {
  if (ended()) return {};
  if (reason == FinishReason::kStop) ++usage_.completion_tokens;  // the end-of-turn token
  AnswerText rest = reasoning_.push(decoder_.flush());
  rest += reasoning_.flush();
  rest = show(std::move(rest));
  rest.content += stops_.flush();
  if (!ended()) finish_reason_ = reason == FinishReason::kLength ? "length" : "stop";
  return rest;
}

AnswerText Answer::show(AnswerText text) {
  text.content = stops_.push(text.content);
  if (stops_.found()) finish_reason_ = "stop";
  return text;
}

}  // namespace qwick::api
