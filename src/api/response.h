// Answers as JSON text, whole and as the chunks of a stream: one writer for each endpoint that generates.
// Used by server/generation_call; one writer for one response.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace qwick::api {

// What all chunks of an answer have in common.
struct AnswerHeader {
  std::string id;       // "chatcmpl-…"
  int64_t created = 0;  // seconds since 1970
  std::string model;    // the name that the client used
};

struct FinishedChoice {
  AnswerPiece text;
  std::string_view finish_reason;
};

Json usage_object(const Usage& usage);

class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  // The whole answer; the choices in the order of their indices.
  virtual std::string whole(std::span<const FinishedChoice> choices, const Usage& usage) = 0;

  // The chunks of a stream, in order for each choice: start, any number of deltas, finish; at the very end
  // the usage, where the client asked for it (the chunks before then say "usage":null, as OpenAI's do).
  virtual std::string start(uint32_t choice) = 0;  // "": no such chunk
  virtual std::string delta(uint32_t choice, const AnswerPiece& piece) = 0;
  virtual std::string finish(uint32_t choice, std::string_view finish_reason) = 0;
  virtual std::string usage(const Usage& usage) = 0;
};

struct WriterOptions {
  bool include_usage = false;
  bool has_logprobs = false;
};
// The tokenizer must outlive them.
std::unique_ptr<ResponseWriter> make_chat_writer(const Tokenizer& tokenizer, AnswerHeader header,
                                                 WriterOptions options);
std::unique_ptr<ResponseWriter> make_completion_writer(const Tokenizer& tokenizer, AnswerHeader header,
                                                       WriterOptions options);

// GET /v1/models: one object per name under which the model is served.
std::string model_list(const std::vector<std::string>& names, int64_t created, uint32_t max_model_len);
std::string model_object(const std::string& name, int64_t created, uint32_t max_model_len);

}  // namespace qwick::api
