// The service: HTTP in front, the engine behind. Requests are read, rendered and encoded on the I/O
// thread, which is the one in run(); the engine's events come back through wake() and are sent from
// there. Used by `qwick serve`:
//
//   Server server({tokenizer, chat_template, defaults, context_length}, options);  // binds the port
//   Engine engine(executor, may_sample, engine_options, [&server] { server.wake(); });
//   server.run(engine);  // until request_stop()
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/config.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace qwick {

struct ServerOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8000;                         // 0: any free one
  std::vector<std::string> served_model_names;  // one or more; a request without a name gets the first
  std::vector<std::string> api_keys;            // none: everybody is let in
  size_t max_body_bytes = 32 << 20;
  uint32_t max_connections = 1024;
  std::chrono::milliseconds drain_timeout{30'000};  // for the answers in progress when stopping
};

// The parts of a loaded model; they outlive the server.
struct ServedModel {
  const Tokenizer& tokenizer;
  const ChatTemplate& chat_template;
  const GenerationDefaults& generation_defaults;
  uint32_t context_length;  // tokens of prompt and answer together: Executor::max_positions()
};

class Server {
 public:
  // Binds and listens. Throws Error kIo where it can't, with the reason.
  Server(ServedModel model, ServerOptions options);
  ~Server();

  uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8000"

  // Serves until stopped; the engine must tell its events by wake(), and may be destroyed afterwards.
  void run(Engine& engine);
  // Any thread, never blocks: there are events to take.
  void wake();
  // Any thread, and signal handlers. First call: no new requests, answers in progress go on until they
  // end or the drain timeout cuts them. Second call: run() returns at once.
  void request_stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
