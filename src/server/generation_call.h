// One request for generated text in progress, with one answer or several: takes the engine's events, makes
// text of them and sends it, whole or as a stream of server-sent events. Owned by Server; I/O thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "api/errors.h"
#include "api/response.h"
#include "engine/request.h"
#include "server/http.h"

namespace qwick {

class GenerationCall {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    bool stream = false;
    bool include_usage = false;
    bool score_only = false;  // nothing that is generated is shown
    uint32_t n = 1;           // answers to give for each prompt
    uint32_t best_of = 1;     // answers made for each prompt
  };

  GenerationCall(std::shared_ptr<HttpExchange> exchange, std::unique_ptr<api::ResponseWriter> writer,
                 Options options);

  // An answer in the making, `echo` before it; prompt by prompt, best_of for each. `id` is the engine's.
  // `first_prompt_id`: where the prompt's log-probabilities come before those of the answer.
  void add(uint64_t id, api::Answer answer, std::string echo, std::optional<int32_t> first_prompt_id);

  HttpExchange& exchange() { return *exchange_; }
  void start();  // sends the head of a stream: from here on errors can only end it
  void on_event(TokenEvent event);
  // Sends what has gathered, but no faster than the client takes it: a slow client gets the same text
  // in fewer chunks. Call after events, and when the exchange has drained.
  void flush();
  // A comment for proxies and clients that give up on a silent stream, where nothing was sent since `since`.
  void keep_alive(Time since);
  void fail(const api::ApiError& error);

  // All there is has been handed to the exchange, or never will be.
  bool done() const { return done_; }
  // Text that waits for a slow client.
  size_t held_bytes() const;
  // The engine's ids of the answers that have ended since the last call; a stop string ends an answer before
  // the engine knows.
  std::vector<uint64_t> take_ended();
  std::vector<uint64_t> unended() const;

 private:
  struct Choice {
    uint64_t id = 0;
    api::Answer answer;
    api::AnswerPiece held;  // not sent yet
    bool end_told = false;  // to take_ended()
    bool end_sent = false;  // to the client
  };

  void send_event(std::string_view json);
  void respond_whole();
  void finish_stream();
  api::Usage usage() const;

  std::shared_ptr<HttpExchange> exchange_;
  std::unique_ptr<api::ResponseWriter> writer_;
  Options options_;
  std::vector<Choice> choices_;
  Time last_sent_;
  bool done_ = false;
};

}  // namespace qwick
