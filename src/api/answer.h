// One answer in the making: token ids of the engine to the text that the client sees, its finish
// reason and its token counts. Streams and whole answers are made with it alike.
#pragma once

#include <cstdint>
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

class Answer {
 public:
  // The tokenizer must outlive this. Stop strings end the answer where they appear in the content;
  // in the reasoning, which is not the answer, they mean nothing.
  Answer(const Tokenizer& tokenizer, Thinking thinking, const std::vector<std::string>& stops,
         uint32_t n_prompt_tokens);

  // Text that can be shown now. Once ended() all further calls give nothing.
  AnswerText push(int32_t token);
  AnswerText finish(FinishReason reason);

  bool ended() const { return !finish_reason_.empty(); }             // push: true after a stop string
  std::string_view finish_reason() const { return finish_reason_; }  // "stop", "length"
  const Usage& usage() const { return usage_; }

 private:
  AnswerText show(AnswerText text);

  StreamDecoder decoder_;
  ReasoningSplitter reasoning_;
  StopStrings stops_;
  Usage usage_;
  std::string_view finish_reason_;
};

}  // namespace qwick::api
