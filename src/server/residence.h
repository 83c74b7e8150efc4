// Keeps the model where it answers at once: a first request before the server calls itself ready touches
// every page and puts the operator's system prompt into the prefix cache; heartbeats do the same again after
// idle times, when the system may have taken pages and caches away. Owned by Operations; I/O thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "api/chat_service.h"
#include "engine/engine.h"
#include "server/http.h"

namespace qwick {

// A prompt and a decode, the prompt with this system message where it is not empty. Throws Error where that
// does not fit the context or the chat template refuses it.
GenerationRequest warm_up_request(const api::ChatService& service, const std::string& system_prompt);

class Residence {
 public:
  // `heartbeat` 0: none. The HTTP server, whose timers it uses, outlives it.
  Residence(HttpServer& http, std::chrono::seconds heartbeat) : http_(http), heartbeat_(heartbeat) {}

  // `on_warm` is called once the request has been answered.
  void start(Engine& engine, GenerationRequest warm_up, std::function<void()> on_warm);
  // True: the event was about a request of its own.
  bool on_event(const TokenEvent& event);
  void stop() { is_stopped_ = true; }

  bool is_warm() const { return is_warm_; }
  uint64_t n_heartbeats() const { return n_heartbeats_; }

 private:
  void wait(std::chrono::steady_clock::duration delay);
  void beat_if_idle();

  HttpServer& http_;
  std::chrono::seconds heartbeat_;
  Engine* engine_ = nullptr;
  GenerationRequest request_;
  std::function<void()> on_warm_;
  uint64_t id_ = 0;  // of the request in progress
  std::chrono::steady_clock::time_point last_work_;
  uint64_t n_heartbeats_ = 0;
  bool is_warm_ = false;
  bool is_stopped_ = false;
};

}  // namespace qwick
