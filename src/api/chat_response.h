// Answers of POST /v1/chat/completions as JSON text, whole and in chunks, and the list of models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "base/json.h"

namespace qwick::api {

// What all chunks of an answer have in common.
struct AnswerHeader {
  std::string id;       // "chatcmpl-…"
  int64_t created = 0;  // seconds since 1970
  std::string model;    // the name that the client used
};

Json usage_object(const Usage& usage);

// The whole answer.
std::string chat_completion(const AnswerHeader& header, const AnswerText& text,
                            std::string_view finish_reason, const Usage& usage);

// The chunks of a stream, in order: start, any number of deltas, finish, and the usage where the
// client asked for it (the chunks before then say "usage":null, as OpenAI's do).
class ChatChunks {
 public:
  ChatChunks(AnswerHeader header, bool include_usage)
      : header_(std::move(header)), include_usage_(include_usage) {}

  std::string start() const;
  std::string delta(const AnswerText& text) const;
  std::string finish(std::string_view finish_reason) const;
  std::string usage(const Usage& usage) const;
  bool include_usage() const { return include_usage_; }

 private:
  std::string chunk(Json delta, const Json& finish_reason) const;
  Json frame(Json choices) const;

  AnswerHeader header_;
  bool include_usage_;
};

// GET /v1/models: one object per name under which the model is served.
std::string model_list(const std::vector<std::string>& names, int64_t created, uint32_t max_model_len);

}  // namespace qwick::api
