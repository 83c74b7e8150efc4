// One answer in the making: token ids of the engine to the text that the client sees, its finish
// reason and its token counts. Streams and whole answers are made with it alike.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/reasoning.h"
#include "api/stop_strings.h"
#include "engine/request.h"
#include "text/tokenizer.h"

namespace qwick::api {

// Counts as vLLM's: the token that ends the turn is one of those generated, though never shown.
struct Usage {
  uint32_t prompt_tokens = 0;
  uint32_t cached_tokens = 0;  // of the prompt, taken from the prefix cache
  uint32_t completion_tokens = 0;
  uint32_t reasoning_tokens = 0;  // of the completion, tags included
};

// Text to show, and the log-probabilities of the tokens that it is made of, where the client asked.
struct AnswerPiece : AnswerText {
  std::vector<TokenLogprobs> logprobs;

  bool empty() const { return AnswerText::empty() && logprobs.empty(); }
  AnswerPiece& operator+=(AnswerPiece&& more);
};

class Answer {
 public:
  // The tokenizer must outlive this. Stop strings end the answer where they appear in the content, and are
  // no part of it unless `show_stop`; in the reasoning, which is not the answer, they mean nothing.
  Answer(const Tokenizer& tokenizer, Thinking thinking, const std::vector<std::string>& stops,
         uint32_t n_prompt_tokens, bool show_stop = false);

  // What can be shown now. Once ended() all further calls give nothing.
  AnswerPiece push(int32_t token, std::optional<TokenLogprobs> logprobs = std::nullopt);
  AnswerPiece finish(FinishReason reason);
  void set_cached_tokens(uint32_t n_tokens) { usage_.cached_tokens = n_tokens; }

  bool ended() const { return !finish_reason_.empty(); }             // push: true after a stop string
  std::string_view finish_reason() const { return finish_reason_; }  // "stop", "length"
  const Usage& usage() const { return usage_; }
  // The mean of the tokens' log-probabilities, where the engine gave them: how likely the answer is.
  double mean_logprob() const {
    return usage_.completion_tokens == 0 ? 0 : logprob_sum_ / usage_.completion_tokens;
  }

 private:
  struct HeldLogprobs {
    size_t begin;  // of the token's text, in bytes of all text so far
    TokenLogprobs logprobs;
  };

  AnswerPiece show(AnswerText text);
  void take_logprobs(size_t end, AnswerPiece& piece);

  StreamDecoder decoder_;
  ReasoningSplitter reasoning_;
  StopStrings stops_;
  Usage usage_;
  std::string_view finish_reason_;
  size_t n_decoded_bytes_ = 0;
  std::deque<HeldLogprobs> held_logprobs_;
  double logprob_sum_ = 0;
};

}  // namespace qwick::api
