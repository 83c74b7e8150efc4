// `qwick chat`: a conversation in the terminal. Answers stream; what the model thinks first is dimmed.
// Ctrl-C stops the answer and not the program.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "api/answer.h"
#include "api/chat_service.h"
#include "api/errors.h"
#include "base/error.h"
#include "cli/input.h"
#include "cli/local_engine.h"

namespace qwick::cli {
namespace {

std::atomic<bool> interrupted{false};  // set by the signal handler, which can reach nothing else

constexpr const char* kHelp =
    "/reset          forget the conversation\n"
    "/system TEXT    start again with this system message (none: without)\n"
    "/think          let the model think before it answers\n"
    "/no_think       answer at once\n"
    "/exit           leave (as Ctrl-D does); Ctrl-C stops an answer\n";

class Terminal {
 public:
  Terminal()
      : is_input_terminal_(::isatty(STDIN_FILENO) != 0), is_output_terminal_(::isatty(STDOUT_FILENO) != 0) {
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = true; };
    ::sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: Ctrl-C also ends the reading of a line
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { std::free(line_); }

  // False at the end of input. An interrupted line comes back empty.
  bool read_line(std::string& line) {
    if (is_input_terminal_) print("> ");
    interrupted = false;
    const ssize_t length = ::getline(&line_, &capacity_, stdin);
    line.clear();
    if (length < 0) {
      if (!interrupted) return false;
      std::clearerr(stdin);
      print("\n(/exit or Ctrl-D leaves)\n");
      return true;
    }
    line.assign(line_, static_cast<size_t>(length));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return true;
  }

  void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  void dim(bool on) {
    if (is_output_terminal_ && on != is_dim_) print(on ? "\x1b[2m" : "\x1b[0m");
    is_dim_ = on;
  }
  bool shows_hints() const { return is_input_terminal_; }

 private:
  bool is_input_terminal_;
  bool is_output_terminal_;
  bool is_dim_ = false;
  char* line_ = nullptr;  // owned by getline
  size_t capacity_ = 0;
};

class Conversation {
 public:
  Conversation(const ReadyModel& loaded, const ChatTemplate& chat_template, const Options& options)
      : options_(options),
        engine_(loaded, options),
        service_(loaded.tokenizer, chat_template, loaded.model.generation_defaults(),
                 engine_.max_positions()),
        system_(options.system) {
    if (options.no_think) enable_thinking_ = false;
    reset();
  }

  void reset() {
    messages_ = Json::array();
    if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
  }
  void set_system(std::string text) {
    system_ = std::move(text);
    reset();
  }
  void set_thinking(bool on) { enable_thinking_ = on; }

  void ask(const std::string& text, Terminal& terminal);

 private:
  const Options& options_;
  LocalEngine engine_;
  api::ChatService service_;
  std::string system_;
  Json messages_;
  std::optional<bool> enable_thinking_;
};

void Conversation::ask(const std::string& text, Terminal& terminal) {
  api::ChatRequest request;
  request.messages = messages_;
  request.messages.push_back({{"role", "user"}, {"content", text}});
  request.enable_thinking = enable_thinking_;
  if (options_.temperature >= 0) request.sampling.temperature = options_.temperature;
  if (options_.max_tokens > 0) request.max_tokens = options_.max_tokens;
  const uint64_t seed = options_.seed != 0 ? options_.seed : std::random_device()();
  api::PreparedChat prepared = service_.prepare(request, seed);
  api::Answer answer(service_.tokenizer(), prepared.thinking, {},
                     static_cast<uint32_t>(prepared.generation.prompt.size()));

  api::AnswerText whole;
  const auto show = [&](const api::AnswerText& more) {
    if (!more.reasoning.empty()) terminal.dim(true);
    terminal.print(more.reasoning);
    if (!more.content.empty() && whole.content.empty() && !(whole.reasoning + more.reasoning).empty())
      terminal.print("\n\n");
    if (!more.content.empty()) terminal.dim(false);
    terminal.print(more.content);
    whole += more;
  };
  interrupted = false;
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = engine_.run(std::move(prepared.generation), [&](int32_t id) {
    show(answer.push(id));
    return !interrupted;
  });
  show(answer.finish(outcome.finish));
  terminal.dim(false);
  terminal.print("\n");
  if (terminal.shows_hints()) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    terminal.dim(true);
    terminal.print(fmt::format("[{} tokens, {:.1f} tokens/s{}]\n", answer.usage().completion_tokens,
                               answer.usage().completion_tokens / seconds,
                               outcome.finish == FinishReason::kCancelled ? ", stopped" : ""));
    terminal.dim(false);
  }

  messages_ = std::move(request.messages);
  Json reply{{"role", "assistant"}, {"content", whole.content}};
  if (!whole.reasoning.empty()) reply["reasoning_content"] = whole.reasoning;
  messages_.push_back(std::move(reply));
}

// False: leave.
bool obey(const std::string& line, Conversation& conversation, Terminal& terminal) {
  if (line == "/exit" || line == "/quit") return false;
  if (line == "/reset") {
    conversation.reset();
  } else if (line == "/think" || line == "/no_think") {
    conversation.set_thinking(line == "/think");
  } else if (line == "/system" || line.starts_with("/system ")) {
    conversation.set_system(line.size() > 8 ? line.substr(8) : "");
  } else {
    terminal.print(kHelp);
  }
  return true;
}

}  // namespace

int chat(const Options& options) {
  const ReadyModel loaded = load_ready_model(options);
  if (!loaded.chat_template) {
    fail(ErrorCode::kInvalidArgument, "{}: the model has no chat template; choose one with --chat-template",
         options.model);
  }
  Conversation conversation(loaded, *loaded.chat_template, options);
  Terminal terminal;
  if (terminal.shows_hints()) {
    terminal.print(
        fmt::format("{}{}\n/help shows the commands.\n", loaded.model.config().name,
                    loaded.is_demo ? ": qwick's built-in demo; a real model: qwick chat qwen3-0.6b" : ""));
  }
  for (std::string line; terminal.read_line(line);) {
    if (line.empty()) continue;
    try {
      if (line.front() == '/') {
        if (!obey(line, conversation, terminal)) break;
      } else {
        conversation.ask(line, terminal);
      }
    } catch (const api::ApiError& error) {
      terminal.print(fmt::format("{}; /reset starts again\n", error.what()));
    }
  }
  return 0;
}

}  // namespace qwick::cli
