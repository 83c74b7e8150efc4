// One chat completion in progress: takes the engine's events, makes text of them and sends it, whole
// or as a stream of server-sent events. Owned by Server; I/O thread only.
#pragma once

#include <memory>
#include <string>

#include "api/answer.h"
#include "api/chat_response.h"
#include "api/errors.h"
#include "engine/request.h"
#include "server/http.h"

namespace qwick {

class ChatCall {
 public:
  ChatCall(std::shared_ptr<HttpExchange> exchange, api::Answer answer, api::AnswerHeader header, bool stream,
           bool include_usage);

  HttpExchange& exchange() { return *exchange_; }
  void start();  // sends the head of a stream: from here on errors can only end it
  void on_event(const TokenEvent& event);
  // Sends what has gathered, but no faster than the client takes it: a slow client gets the same text
  // in fewer chunks. Call after events, and when the exchange has drained.
  void flush();
  void fail(const api::ApiError& error);

  // All there is has been handed to the exchange, or never will be.
  bool done() const { return done_; }
  // Text that waits for a slow client.
  size_t held_bytes() const { return held_.content.size() + held_.reasoning.size(); }
  // The answer has ended, though the engine may not know yet (a stop string).
  bool answer_ended() const { return answer_.ended(); }

 private:
  void send_event(std::string_view json);
  void respond_whole();
  void finish_stream();

  std::shared_ptr<HttpExchange> exchange_;
  api::Answer answer_;
  api::AnswerHeader header_;
  api::ChatChunks chunks_;
  api::AnswerText held_;  // not sent yet
  bool stream_;
  bool done_ = false;
};

}  // namespace qwick
