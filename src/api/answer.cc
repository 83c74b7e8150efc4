#include "api/answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace qwick::api {

AnswerPiece& AnswerPiece::operator+=(AnswerPiece&& more) {
  AnswerText::operator+=(more);
  std::move(more.logprobs.begin(), more.logprobs.end(), std::back_inserter(logprobs));
  return *this;
}

Answer::Answer(const Tokenizer& tokenizer, Thinking thinking, const std::vector<std::string>& stops,
               uint32_t n_prompt_tokens, bool show_stop)
    : decoder_(tokenizer), reasoning_(thinking), stops_(stops, show_stop) {
  usage_.prompt_tokens = n_prompt_tokens;
}

AnswerPiece Answer::push(int32_t token, std::optional<TokenLogprobs> logprobs) {
  if (ended()) return {};
  ++usage_.completion_tokens;
  const bool was_reasoning = reasoning_.in_reasoning();
  if (logprobs) {
    logprob_sum_ += logprobs->token.logprob;
    held_logprobs_.push_back({n_decoded_bytes_, *std::move(logprobs)});
  }
  const std::string decoded = decoder_.push(token);
  n_decoded_bytes_ += decoded.size();
  AnswerText text = reasoning_.push(decoded);
  // Reasoning comes first, so all tokens up to here are part of it.
  if (was_reasoning || reasoning_.in_reasoning()) usage_.reasoning_tokens = usage_.completion_tokens;
  return show(std::move(text));
}

AnswerPiece Answer::finish(FinishReason reason) {
  if (ended()) return {};
  if (reason == FinishReason::kStop) ++usage_.completion_tokens;  // the end-of-turn token
  AnswerText rest = reasoning_.push(decoder_.flush());
  rest += reasoning_.flush();
  AnswerPiece piece = show(std::move(rest));
  piece.content += stops_.flush();
  if (ended()) return piece;
  take_logprobs(std::string::npos, piece);
  finish_reason_ = reason == FinishReason::kLength ? "length" : "stop";
  return piece;
}

AnswerPiece Answer::show(AnswerText text) {
  AnswerPiece piece{std::move(text), {}};
  piece.content = stops_.push(piece.content);
  if (stops_.found()) finish_reason_ = "stop";
  if (!piece.empty() || ended())
    take_logprobs(n_decoded_bytes_ - std::min(n_decoded_bytes_, stops_.n_hidden()), piece);
  return piece;
}

// Those of tokens that begin before `end`.
void Answer::take_logprobs(size_t end, AnswerPiece& piece) {
  for (; !held_logprobs_.empty() && held_logprobs_.front().begin < end; held_logprobs_.pop_front())
    piece.logprobs.push_back(std::move(held_logprobs_.front().logprobs));
}

}  // namespace qwick::api
