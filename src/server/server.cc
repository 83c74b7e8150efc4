#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "api/chat_request.h"
#include "api/chat_response.h"
#include "api/chat_service.h"
#include "api/errors.h"
#include "base/check.h"
#include "base/log.h"
#include "server/api_keys.h"
#include "server/chat_call.h"
#include "server/deadlines.h"
#include "server/http.h"
#include "server/operations.h"
#include "server/routes.h"

namespace qwick {
namespace {

// Text that a client which reads nothing can make us hold. Answers are rarely longer than this.
constexpr size_t kMaxHeldBytes = 1 << 20;
constexpr std::chrono::milliseconds kCutTime{2'000};  // to send the last words after the drain timeout

// Field names that requests had and nobody knows: each is logged once, and not without end.
class UnknownFieldLog {
 public:
  void note(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (seen_.size() >= kMaxNames || !seen_.insert(name.substr(0, kMaxNameBytes)).second) continue;
      log::info("a request has the unknown field {}; it is ignored",
                printable(name.substr(0, kMaxNameBytes)));
    }
  }

 private:
  static constexpr size_t kMaxNames = 256;
  static constexpr size_t kMaxNameBytes = 64;

  static std::string printable(std::string name) {
    for (char& c : name) {
      if (c < 0x20 || c > 0x7E) c = '?';
    }
    return name;
  }

  std::set<std::string> seen_;
};

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options)
      : options_(std::move(options)),
        keys_(options_.api_keys, options_.api_key_file),
        routes_(keys_),
        operations_(options_, keys_, http_, routes_),
        http_(
            options_.http, [this](const std::shared_ptr<HttpExchange>& exchange) { route(exchange); },
            [](int status, std::string_view message) {
              return error_response({status, std::string(message)});
            }) {
    using Exchange = std::shared_ptr<HttpExchange>;
    add_api("POST", "/v1/chat/completions", [this](const Exchange& e) { chat(e); });
    add_api("GET", "/v1/models", [this](const Exchange& e) { models(*e); });
    http_.on_stop([this] { drain(); });
    operations_.connect();
  }

  HttpServer& http() { return http_; }

  void run() {
    http_.run();
    for (const auto& [id, call] : calls_) engine_->cancel(id);
    calls_.clear();
    engine_ = nullptr;
  }

  void open(const ServedModel& model, Engine& engine, std::function<void()> on_ready) {
    QWICK_CHECK(!model.names.empty());
    const auto service = std::make_shared<const api::ChatService>(
        model.tokenizer, model.chat_template, model.generation_defaults, model.context_length);
    GenerationRequest warm_up = warm_up_request(*service, options_.system_prompt);
    http_.post([=, this, &engine, info = ServiceInfo{{}, model.isa, model.dtype, model.names.front()},
                names = model.names, warm_up = std::move(warm_up), on_ready = std::move(on_ready)] {
      service_ = service;
      names_ = names;
      engine_ = &engine;
      operations_.open(engine, info, warm_up, on_ready);
    });
  }

  void wake() {
    http_.post([this] { take_events(); });
  }

 private:
  void route(const std::shared_ptr<HttpExchange>& exchange) {
    if (std::optional<HttpResponse> answer = operations_.preflight(exchange->request())) {
      exchange->respond(std::move(*answer));
    } else {
      routes_.dispatch(exchange);
    }
  }

  // A route that needs a key and the model.
  void add_api(std::string method, std::string path, Routes::Handler handler) {
    routes_.add(std::move(method), std::move(path), Routes::Access::kWithKey,
                [this, handler = std::move(handler)](const std::shared_ptr<HttpExchange>& exchange) {
                  if (draining_) throw api::ApiError(503, "the server is shutting down");
                  if (!service_)
                    throw api::ApiError(503, "the model is being loaded; try again in a moment", {},
                                        "loading");
                  handler(exchange);
                });
  }

  void models(HttpExchange& exchange) const {
    exchange.respond({200, api::model_list(names_, started_, service_->context_length())});
  }

  void check_model(const std::string& name) const {
    if (name.empty() || std::find(names_.begin(), names_.end(), name) != names_.end()) return;
    std::string known = names_.front();
    for (size_t i = 1; i < names_.size(); ++i) known += ", " + names_[i];
    throw api::ApiError(404, fmt::format("model: there is no model of this name here, but {}", known),
                        "model", "model_not_found");
  }

  void chat(const std::shared_ptr<HttpExchange>& exchange) {
    const api::ChatRequest request = api::parse_chat_request(exchange->request().body);
    unknown_fields_.note(request.unknown_fields);
    check_model(request.model);
    // Milliseconds for long prompts: what a worker thread would take over.
    api::PreparedChat prepared = service_->prepare(request, random_());

    const auto n_prompt_tokens = static_cast<uint32_t>(prepared.generation.prompt.size());
    api::Answer answer(service_->tokenizer(), prepared.thinking, request.stop, n_prompt_tokens);
    api::AnswerHeader header{new_id("chatcmpl-"), std::time(nullptr),
                             request.model.empty() ? names_.front() : request.model};
    const uint64_t id = submit(std::move(prepared.generation), *exchange);
    auto call = std::make_unique<ChatCall>(exchange, std::move(answer), std::move(header), request.stream,
                                           request.include_usage);
    exchange->on_left([this, id] { drop(id, EarlyEnd::kClientLeft); });
    exchange->on_drained([this, id] { flush(id); });
    call->start();
    calls_.emplace(id, std::move(call));
  }

  // Hands a client's request to the engine within the operator's limits; the engine's id for it.
  uint64_t submit(GenerationRequest request, const HttpExchange& exchange) {
    const size_t n_prompt_tokens = request.prompt.size();
    if (options_.max_prompt_tokens > 0 && n_prompt_tokens > options_.max_prompt_tokens) {
      throw api::ApiError(400,
                          fmt::format("the prompt has {} tokens, this server takes {} at most; shorten it",
                                      n_prompt_tokens, options_.max_prompt_tokens),
                          {}, "prompt_too_long");
    }
    const bool uses_cache = request.use_cache;
    const uint64_t id = engine_->submit(std::move(request));
    if (id == 0) {
      operations_.note_engine();
      const int seconds = operations_.metrics().seconds_to_next_place(std::chrono::steady_clock::now());
      throw api::ApiError(429, fmt::format("too many requests are waiting; try again in {} s", seconds), {},
                          "queue_full")
          .with_retry_after(seconds);
    }
    operations_.metrics().on_submit(id, exchange, static_cast<uint32_t>(n_prompt_tokens), uses_cache);
    if (options_.request_timeout.count() > 0) {
      deadlines_.add(exchange.request().received + options_.request_timeout, id);
      await_deadline();
    }
    return id;
  }

  void await_deadline() {
    const auto next = deadlines_.next();
    if (!next || awaits_deadline_) return;
    awaits_deadline_ = true;
    const auto delay =
        std::max(*next - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration{});
    http_.run_after(std::chrono::ceil<std::chrono::milliseconds>(delay), [this] {
      awaits_deadline_ = false;
      const api::ApiError error(504,
                                fmt::format("the answer took longer than {} s, which is this server's limit",
                                            options_.request_timeout.count()),
                                {}, "request_timeout");
      for (const uint64_t id : deadlines_.take_due(std::chrono::steady_clock::now()))
        cut(id, error, EarlyEnd::kTimeout);
      await_deadline();
    });
  }

  void take_events() {
    if (engine_ == nullptr) return;
    std::vector<uint64_t> touched;
    for (const TokenEvent& event : engine_->take_events()) {
      if (operations_.on_event(event)) continue;
      const auto call = calls_.find(event.request_id);
      if (call == calls_.end()) continue;  // dropped meanwhile
      call->second->on_event(event);
      if (touched.empty() || touched.back() != event.request_id) touched.push_back(event.request_id);
    }
    for (const uint64_t id : touched) flush(id);
    operations_.note_engine();
  }

  // Sends what there is for a call and lets go of it when that was all.
  void flush(uint64_t id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    ChatCall& call = *found->second;
    call.flush();
    if (call.answer_ended() || call.done()) {  // the engine may not know yet, or has ended it itself
      operations_.metrics().on_stop_string(id);
      engine_->cancel(id);
    }
    if (call.held_bytes() > kMaxHeldBytes && !call.answer_ended()) {
      log::warn("a client reads its stream too slowly; its request is cancelled");
      call.exchange().abort();
      drop(id, EarlyEnd::kSlowClient);
    } else if (call.done()) {
      calls_.erase(found);
    }
  }

  void drop(uint64_t id, EarlyEnd why) {
    operations_.metrics().on_ended_early(id, why);
    engine_->cancel(id);
    calls_.erase(id);
  }

  void cut(uint64_t id, const api::ApiError& error, EarlyEnd why) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    const std::unique_ptr<ChatCall> call = std::move(found->second);
    drop(id, why);
    call->fail(error);
  }

  void drain() {
    draining_ = true;
    operations_.drain();
    if (service_) log::info("stopping: {} answers in progress", calls_.size());
    http_.run_after(options_.drain_timeout, [this] {
      log::warn("the drain timeout has passed; {} answers are cut", calls_.size());
      while (!calls_.empty())
        cut(calls_.begin()->first, {503, "the server is shutting down"}, EarlyEnd::kShutdown);
      http_.run_after(kCutTime, [this] { http_.request_stop(); });
    });
  }

  std::string new_id(std::string_view prefix) {
    constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string id(prefix);
    for (int i = 0; i < 24; ++i) id += kAlphabet[random_() % kAlphabet.size()];
    return id;
  }

  const ServerOptions options_;
  const int64_t started_ = std::time(nullptr);
  ApiKeys keys_;
  Routes routes_;
  Operations operations_;
  UnknownFieldLog unknown_fields_;
  std::mt19937_64 random_{std::random_device{}()};
  Engine* engine_ = nullptr;
  std::shared_ptr<const api::ChatService> service_;  // of the model; none before open()
  std::vector<std::string> names_;                   // under which it is served
  Deadlines deadlines_;
  bool awaits_deadline_ = false;
  std::unordered_map<uint64_t, std::unique_ptr<ChatCall>> calls_;  // by the engine's request id
  bool draining_ = false;
  HttpServer http_;  // last: it calls into all the others
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;

uint16_t Server::port() const {
  return impl_->http().port();
}
std::string Server::url() const {
  return impl_->http().url();
}
void Server::run() {
  impl_->run();
}
void Server::open(const ServedModel& model, Engine& engine, std::function<void()> on_ready) {
  impl_->open(model, engine, std::move(on_ready));
}
void Server::wake() {
  impl_->wake();
}
void Server::request_stop() {
  impl_->http().request_stop();
}
void Server::request_reload() {
  impl_->http().request_reload();
}

}  // namespace qwick
