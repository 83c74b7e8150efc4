// The service: HTTP in front, the engine behind. Requests are read, rendered and encoded on the I/O
// thread, which is the one in run(); the engine's events come back through wake() and are sent from
// there. Used by `qwick serve`:
//
//   Server server(options);                          // binds the port
//   std::thread io([&server] { server.run(); });     // until request_stop(); all but health is 503
//   Engine engine(executor, may_sample, engine_options, [&server] { server.wake(); });
//   server.open(model, engine, [] { … });            // warms up, then is ready
//   io.join();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/config.h"
#include "server/server_options.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace qwick {

// The parts of a loaded model; they outlive the server.
struct ServedModel {
  const Tokenizer& tokenizer;
  const ChatTemplate& chat_template;
  const GenerationDefaults& generation_defaults;
  uint32_t context_length;         // tokens of prompt and answer together: Executor::max_positions()
  std::vector<std::string> names;  // one or more; a request without a name gets the first
  std::string isa, dtype;  // whose kernels run, over which weights: for those who look after the server
};

class Server {
 public:
  // Binds and listens. Throws Error where it can't, or an option makes no sense, with the reason.
  explicit Server(ServerOptions options);
  ~Server();

  uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8000"

  // Serves until stopped. Before open() only health, metrics and the like have answers.
  void run();
  // Any thread, once: there is a model. Throws Error where the system prompt does not fit it. Requests are
  // taken from now on; `on_ready` is called on the I/O thread when the warm-up is over. The engine must tell
  // its events by wake(), and may be destroyed after run().
  void open(const ServedModel& model, Engine& engine, std::function<void()> on_ready);
  // Any thread, never blocks: there are events to take.
  void wake();
  // Any thread, and signal handlers. First call: no new requests, answers in progress go on until they
  // end or the drain timeout cuts them. Second call: run() returns at once.
  void request_stop();
  // Any thread, and signal handlers: reads the key file again.
  void request_reload();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
