#include "server/server.h"

#include <algorithm>
#include <ctime>
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
#include "server/chat_call.h"
#include "server/http.h"
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

HttpOptions http_options(const ServerOptions& options) {
  HttpOptions http;
  http.host = options.host;
  http.port = options.port;
  http.max_body_bytes = options.max_body_bytes;
  http.max_connections = options.max_connections;
  return http;
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServedModel model, ServerOptions options)
      : options_(std::move(options)),
        service_(model.tokenizer, model.chat_template, model.generation_defaults, model.context_length),
        routes_(options_.api_keys),
        http_(
            http_options(options_),
            [this](const std::shared_ptr<HttpExchange>& exchange) { route(exchange); },
            [](int status, std::string_view message) {
              return error_response({status, std::string(message)});
            }) {
    QWICK_CHECK(!options_.served_model_names.empty());
    using Exchange = std::shared_ptr<HttpExchange>;
    using Access = Routes::Access;
    routes_.add("POST", "/v1/chat/completions", Access::kWithKey, [this](const Exchange& e) { chat(e); });
    routes_.add("GET", "/v1/models", Access::kWithKey, [this](const Exchange& e) { models(*e); });
    routes_.add("GET", "/health", Access::kOpen, [this](const Exchange& e) { health(*e); });
    http_.on_stop([this] { drain(); });
  }

  HttpServer& http() { return http_; }

  void run(Engine& engine) {
    engine_ = &engine;
    http_.run();
    for (const auto& [id, call] : calls_) engine.cancel(id);
    calls_.clear();
    engine_ = nullptr;
  }

  void wake() {
    http_.post([this] { take_events(); });
  }

 private:
  void route(const std::shared_ptr<HttpExchange>& exchange) {
    if (draining_ && exchange->request().path != "/health") {
      exchange->respond(error_response({503, "the server is shutting down"}));
    } else {
      routes_.dispatch(exchange);
    }
  }

  void health(HttpExchange& exchange) const {
    if (draining_) {
      exchange.respond({503, R"({"status":"stopping"})"});
    } else {
      exchange.respond({200, R"({"status":"ok"})"});
    }
  }

  void models(HttpExchange& exchange) const {
    exchange.respond(
        {200, api::model_list(options_.served_model_names, started_, service_.context_length())});
  }

  void check_model(const std::string& name) const {
    const auto& names = options_.served_model_names;
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
    std::string known = names.front();
    for (size_t i = 1; i < names.size(); ++i) known += ", " + names[i];
    throw api::ApiError(404, fmt::format("model: there is no model of this name here, but {}", known),
                        "model", "model_not_found");
  }

  void chat(const std::shared_ptr<HttpExchange>& exchange) {
    const api::ChatRequest request = api::parse_chat_request(exchange->request().body);
    unknown_fields_.note(request.unknown_fields);
    check_model(request.model);
    // Milliseconds for long prompts: what a worker thread would take over.
    api::PreparedChat prepared = service_.prepare(request, random_());

    const auto n_prompt_tokens = static_cast<uint32_t>(prepared.generation.prompt.size());
    api::Answer answer(service_.tokenizer(), prepared.thinking, request.stop, n_prompt_tokens);
    api::AnswerHeader header{new_id("chatcmpl-"), std::time(nullptr),
                             request.model.empty() ? options_.served_model_names.front() : request.model};
    const uint64_t id = engine_->submit(std::move(prepared.generation));
    if (id == 0) {
      throw api::ApiError(429, "too many requests are waiting; try again in a moment", {}, "queue_full");
    }
    auto call = std::make_unique<ChatCall>(exchange, std::move(answer), std::move(header), request.stream,
                                           request.include_usage);
    exchange->on_left([this, id] { drop(id); });
    exchange->on_drained([this, id] { flush(id); });
    call->start();
    calls_.emplace(id, std::move(call));
  }

  void take_events() {
    if (engine_ == nullptr) return;
    std::vector<uint64_t> touched;
    for (const TokenEvent& event : engine_->take_events()) {
      const auto call = calls_.find(event.request_id);
      if (call == calls_.end()) continue;  // dropped meanwhile
      call->second->on_event(event);
      if (touched.empty() || touched.back() != event.request_id) touched.push_back(event.request_id);
    }
    for (const uint64_t id : touched) flush(id);
  }

  // Sends what there is for a call and lets go of it when that was all.
  void flush(uint64_t id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    ChatCall& call = *found->second;
    call.flush();
    if (call.answer_ended() || call.done()) engine_->cancel(id);  // nothing, where the engine ended it
    if (call.held_bytes() > kMaxHeldBytes && !call.answer_ended()) {
      log::warn("a client reads its stream too slowly; its request is cancelled");
      call.exchange().abort();
      drop(id);
    } else if (call.done()) {
      calls_.erase(found);
    }
  }

  void drop(uint64_t id) {
    engine_->cancel(id);
    calls_.erase(id);
  }

  void drain() {
    draining_ = true;
    log::info("stopping: {} answers in progress", calls_.size());
    http_.run_after(options_.drain_timeout, [this] {
      log::warn("the drain timeout has passed; {} answers are cut", calls_.size());
      for (const auto& [id, call] : std::exchange(calls_, {})) {
        engine_->cancel(id);
        call->fail({503, "the server is shutting down"});
      }
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
  const api::ChatService service_;
  const int64_t started_ = std::time(nullptr);
  Routes routes_;
  UnknownFieldLog unknown_fields_;
  std::mt19937_64 random_{std::random_device{}()};
  Engine* engine_ = nullptr;
  std::unordered_map<uint64_t, std::unique_ptr<ChatCall>> calls_;  // by the engine's request id
  bool draining_ = false;
  HttpServer http_;  // last: it calls into all the others
};

Server::Server(ServedModel model, ServerOptions options)
    : impl_(std::make_unique<Impl>(model, std::move(options))) {}
Server::~Server() = default;

uint16_t Server::port() const {
  return impl_->http().port();
}
std::string Server::url() const {
  return impl_->http().url();
}
void Server::run(Engine& engine) {
  impl_->run(engine);
}
void Server::wake() {
  impl_->wake();
}
void Server::request_stop() {
  impl_->http().request_stop();
}

}  // namespace qwick
