// `qwick serve`: listens, opens the model, puts executor, engine and server together, and runs them until
// SIGTERM or Ctrl-C.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/backend.h"
#include "cli/input.h"
#include "cli/sampling.h"
#include "engine/engine.h"
#include "hub/loaded_model.h"
#include "server/server.h"

namespace qwick::cli {
namespace {

Server* running_server = nullptr;  // for the signal handlers, which can be given nothing

void stop_on_signal(int /*signal*/) {
  if (running_server != nullptr) running_server->request_stop();
}
void reload_on_signal(int /*signal*/) {
  if (running_server != nullptr) running_server->request_reload();
}

// Routes SIGTERM and SIGINT to a server for as long as this lives; SIGHUP only where there is something to
// read again, or one who might ask: else it means that the terminal is gone.
class SignalHandlers {
 public:
  SignalHandlers(Server& server, bool reloads) {
    running_server = &server;
    std::signal(SIGTERM, stop_on_signal);
    std::signal(SIGINT, stop_on_signal);
    if (reloads) std::signal(SIGHUP, reload_on_signal);
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;
  ~SignalHandlers() {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
    running_server = nullptr;
  }
};

// The I/O thread. Stopped while the model is still being loaded, which can't be interrupted, it ends the
// process.
class IoThread {
 public:
  explicit IoThread(Server& server)
      : server_(server), thread_([this] {
          server_.run();
          if (is_loading_) std::_Exit(0);
        }) {}
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
  ~IoThread() {
    if (!thread_.joinable()) return;
    is_loading_ = false;
    server_.request_stop();
    server_.request_stop();  // at once
    thread_.join();
  }

  void join() {
    is_loading_ = false;
    thread_.join();
  }

 private:
  Server& server_;
  std::atomic<bool> is_loading_{true};
  std::thread thread_;
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

ServerOptions server_options(const Options& options) {
  const auto at_least_one = [](std::string_view flag, uint32_t value) {
    if (value == 0) fail(ErrorCode::kInvalidArgument, "{} must be 1 or more", flag);
    return value;
  };
  const auto seconds = [&](std::string_view flag, uint32_t value) {
    return std::chrono::seconds(at_least_one(flag, value));
  };
  ServerOptions made;
  made.http.host = options.host;
  made.http.port = options.port;
  made.http.max_body_bytes = size_t{at_least_one("--max-body", options.max_body)} << 20;
  made.http.max_connections = at_least_one("--max-connections", options.max_connections);
  made.http.idle_timeout = seconds("--idle-timeout", options.idle_timeout);
  made.http.header_timeout = seconds("--header-timeout", options.header_timeout);
  made.http.body_timeout = seconds("--body-timeout", options.body_timeout);
  made.http.write_timeout = seconds("--write-timeout", options.write_timeout);
  made.api_keys = options.api_keys;
  made.api_key_file = options.api_key_file;
  made.cors_origins = options.cors_origins;
  made.max_prompt_tokens = options.max_prompt_tokens;
  made.request_timeout = std::chrono::seconds(options.request_timeout);
  made.drain_timeout = std::chrono::seconds(options.drain_timeout);
  made.keep_alive = std::chrono::seconds(options.keep_alive);
  made.heartbeat = std::chrono::seconds(options.heartbeat);
  if (!options.system_prompt_file.empty())
    made.system_prompt = MappedFile::open(options.system_prompt_file).text();
  made.access_log = options.access_log;
  made.log_prompts = options.log_prompts;
  return made;
}

EngineOptions engine_options(const Options& options) {
  EngineOptions made;
  made.max_queue = options.max_queue;
  made.max_running = options.max_batch;
  if (made.max_queue == 0) fail(ErrorCode::kInvalidArgument, "--max-queue must be 1 or more");
  return made;
}

}  // namespace

int serve(const Options& options) {
  const EngineOptions limits = engine_options(options);
  Server server(server_options(options));
  const bool may_reload = !options.api_key_file.empty() || std::getenv("NOTIFY_SOCKET") != nullptr;
  const SignalHandlers signals(server, may_reload);
  IoThread io(server);
  fmt::print("Loading the model; {}/health/ready says when it is there.\n", server.url());
  std::fflush(stdout);

  const ReadyModel loaded = load_ready_model(options);
  if (!loaded.chat_template) {
    fail(ErrorCode::kUnsupported,
         "{}: the model has no chat template; choose one with --chat-template chatml|qwen3|FILE",
         options.model);
  }
  Backend backend(loaded, options, options.max_batch);
  Executor& executor = backend.executor();
  Engine engine(executor, sampleable_ids(loaded.tokenizer), limits, [&server] { server.wake(); });
  const std::vector<std::string> names = served_names(options, loaded);
  const bool has_key = !options.api_keys.empty() || !options.api_key_file.empty();
  const GenerationDefaults defaults = with_sampling(loaded.model.generation_defaults(), options.sampling);
  server.open({loaded.tokenizer, *loaded.chat_template, defaults, executor.options().max_positions, names,
               backend.isa(), backend.dtype()},
              engine, [&, url = server.url()] { print_welcome(loaded, url, names.back(), has_key); });
  io.join();
  log::info("stopped");
  return 0;
}

}  // namespace qwick::cli
