// `qwick serve`: opens the model, puts executor, engine and server together, and runs them until
// SIGTERM or Ctrl-C.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "cli/backend.h"
#include "cli/input.h"
#include "engine/engine.h"
#include "hub/loaded_model.h"
#include "server/server.h"

namespace qwick::cli {
namespace {

Server* running_server = nullptr;  // for the signal handler, which can be given nothing

void stop_on_signal(int /*signal*/) {
  if (running_server != nullptr) running_server->request_stop();
}

// Routes SIGTERM and SIGINT to a server for as long as this lives.
class SignalStop {
 public:
  explicit SignalStop(Server& server) {
    running_server = &server;
    std::signal(SIGTERM, stop_on_signal);
    std::signal(SIGINT, stop_on_signal);
  }
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
  ~SignalStop() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    running_server = nullptr;
  }
};

std::vector<std::string> served_names(const Options& options, const LoadedModel& loaded) {
  if (!options.served_model_names.empty()) return options.served_model_names;
  std::vector<std::string> names{"Qwen3-0.6B", "Qwen-0.6B"};
  const std::string& own = loaded.model.config().name;
  if (!own.empty() && std::find(names.begin(), names.end(), own) == names.end())
    names.insert(names.begin(), own);
  return names;
}

void print_welcome(const LoadedModel& loaded, const std::string& url, const std::string& name, bool has_key) {
  const ModelConfig& config = loaded.model.config();
  if (loaded.is_demo) {
    fmt::print(
        "This is the built-in demo, a tiny model to try the service with: it greets, adds small numbers and\n"
        "remembers a name. For real answers serve a real model: qwick serve qwen3-0.6b\n");
  } else {
    fmt::print("{}: {}, {} layers, d_model {}\n", config.name, architecture_name(config.architecture),
               config.n_layers, config.d_model);
  }
  const std::string key = has_key ? "YOUR_KEY" : "EMPTY";
  fmt::print(
      "Listening on {0}/v1. Talk to it:\n"
      "  curl:      curl {0}/v1/chat/completions {3}-H 'Content-Type: application/json' -d '{{\"model\": "
      "\"{1}\", "
      "\"messages\": [{{\"role\": \"user\", \"content\": \"Hello!\"}}]}}'\n"
      "  openai:    OpenAI(base_url=\"{0}/v1\", api_key=\"{2}\").chat.completions.create(model=\"{1}\", "
      "messages=[{{\"role\": \"user\", \"content\": \"Hello!\"}}])\n"
      "  LangChain: ChatOpenAI(base_url=\"{0}/v1\", api_key=\"{2}\", model=\"{1}\").invoke(\"Hello!\")\n",
      url, name, key, has_key ? "-H 'Authorization: Bearer YOUR_KEY' " : "");
  std::fflush(stdout);
}

}  // namespace

int serve(const Options& options) {
  const ReadyModel loaded = load_ready_model(options);
  if (!loaded.chat_template) {
    fail(ErrorCode::kUnsupported,
         "{}: the model has no chat template; choose one with --chat-template chatml|qwen3|FILE",
         options.model);
  }
  Backend backend(loaded, options, options.max_batch);
  Executor& executor = backend.executor();

  ServerOptions server_options;
  server_options.host = options.host;
  server_options.port = options.port;
  server_options.served_model_names = served_names(options, loaded);
  server_options.api_keys = options.api_keys;
  server_options.drain_timeout = std::chrono::seconds(options.drain_timeout);
  Server server({loaded.tokenizer, *loaded.chat_template, loaded.model.generation_defaults(),
                 executor.options().max_positions},
                server_options);
  EngineOptions engine_options;
  engine_options.max_queue = options.max_queue;
  engine_options.max_running = options.max_batch;
  Engine engine(executor, sampleable_ids(loaded.tokenizer), engine_options, [&server] { server.wake(); });

  const SignalStop signals(server);
  print_welcome(loaded, server.url(), server_options.served_model_names.back(), !options.api_keys.empty());
  server.run(engine);
  log::info("stopped");
  return 0;
}

}  // namespace qwick::cli
