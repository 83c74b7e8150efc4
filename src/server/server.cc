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
#include "api/chat_service.h"
#include "api/completion_request.h"
#include "api/completion_service.h"
#include "api/errors.h"
#include "api/response.h"
#include "api/text_endpoints.h"
#include "base/check.h"
#include "base/log.h"
#include "engine/cache_space.h"
#include "server/api_keys.h"
#include "server/deadlines.h"
#include "server/generation_call.h"
#include "server/http.h"
#include "server/operations.h"
#include "server/routes.h"
#include "server/unknown_field_log.h"

namespace qwick {
namespace {

// Text that a client which reads nothing can make us hold. Answers are rarely longer than this.
constexpr size_t kMaxHeldBytes = 1 << 20;
constexpr std::string_view kModelsBelow = "/v1/models/";
constexpr std::chrono::milliseconds kCutTime{2'000};  // to send the last words after the drain timeout

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
    add_api("POST", "/v1/completions", [this](const Exchange& e) { complete(e); });
    add_api("GET", "/v1/models", [this](const Exchange& e) { models(*e); });
    add_api("GET", std::string(kModelsBelow) + "*", [this](const Exchange& e) { model(*e); });
    add_text("/tokenize", api::tokenize);
    add_text("/detokenize", api::detokenize);
    add_text("/apply-template", api::apply_template);
    http_.on_stop([this] { drain(); });
    operations_.connect();
  }

  HttpServer& http() { return http_; }

  void run() {
    http_.run();
    while (!calls_.empty()) drop(calls_.begin()->first, EarlyEnd::kShutdown);
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

  void add_text(std::string path, std::string (*answer)(const api::ChatService&, std::string_view)) {
    add_api("POST", std::move(path), [this, answer](const std::shared_ptr<HttpExchange>& exchange) {
      exchange->respond({200, answer(*service_, exchange->request().body)});
    });
  }

  void model(HttpExchange& exchange) const {
    const std::string name = path_below(exchange.request(), kModelsBelow);
    check_model(name);
    exchange.respond({200, api::model_object(name, started_, service_->context_length())});
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

  // What a client asked the engine for, before there is one answer or more in the making.
  struct Draft {
    GenerationRequest generation;
    api::Thinking thinking = api::Thinking::kOff;
    std::string echo;
  };

  void chat(const std::shared_ptr<HttpExchange>& exchange) {
    const api::ChatRequest request = api::parse_chat_request(exchange->request().body);
    unknown_fields_.note(request.unknown_fields);
    check_model(request.model);
    // Milliseconds for long prompts: what a worker thread would take over.
    api::PreparedChat prepared = service_->prepare(request, random_());
    std::vector<Draft> drafts;
    drafts.push_back({std::move(prepared.generation), prepared.thinking, std::move(prepared.echo)});
    generate(
        exchange, request, false,
        api::make_chat_writer(service_->tokenizer(), header("chatcmpl-", request), writer_options(request)),
        std::move(drafts));
  }

  void complete(const std::shared_ptr<HttpExchange>& exchange) {
    const api::CompletionRequest request = api::parse_completion_request(exchange->request().body);
    unknown_fields_.note(request.unknown_fields);
    check_model(request.model);
    const api::CompletionService service(service_->tokenizer(), service_->resolver());
    std::vector<Draft> drafts;
    for (api::PreparedCompletion& prepared : service.prepare(request, random_()))
      drafts.push_back({std::move(prepared.generation), api::Thinking::kOff, std::move(prepared.echo)});
    generate(
        exchange, request, request.score_only,
        api::make_completion_writer(service_->tokenizer(), header("cmpl-", request), writer_options(request)),
        std::move(drafts));
  }

  api::AnswerHeader header(std::string_view prefix, const api::GenerationFields& request) {
    return {new_id(prefix), std::time(nullptr), request.model.empty() ? names_.front() : request.model};
  }

  static api::WriterOptions writer_options(const api::GenerationFields& request) {
    return {request.include_usage, request.n_top_logprobs.has_value()};
  }

  // Clients with keys of their own, and those who ask for it, share no cached prefixes with others.
  uint64_t cache_space_of(const HttpRequest& request, const std::string& salt) const {
    const std::string_view key = keys_.size() > 1 ? api_key(request) : std::string_view();
    if (key.empty() && salt.empty()) return 0;
    return cache_space(fmt::format("{}:{}{}", key.size(), key, salt));
  }

  void generate(const std::shared_ptr<HttpExchange>& exchange, const api::GenerationFields& request,
                bool score_only, std::unique_ptr<api::ResponseWriter> writer, std::vector<Draft> drafts) {
    auto call =
        std::make_unique<GenerationCall>(exchange, std::move(writer),
                                         GenerationCall::Options{request.stream, request.include_usage,
                                                                 score_only, request.n, request.best_of});
    const uint64_t space = cache_space_of(exchange->request(), request.cache_salt);
    std::vector<uint64_t> ids;
    try {
      for (Draft& draft : drafts) {
        draft.generation.cache_space = space;
        const std::vector<int32_t>& prompt = draft.generation.prompt;
        const bool scores = draft.generation.prompt_logprobs;
        for (uint32_t i = 0; i < request.best_of; ++i, ++draft.generation.sampling.seed) {
          ids.push_back(submit(draft.generation, *exchange));
          call->add(ids.back(),
                    api::Answer(service_->tokenizer(), draft.thinking, request.stop,
                                static_cast<uint32_t>(prompt.size()), request.include_stop),
                    draft.echo, scores ? std::optional(prompt.front()) : std::nullopt);
        }
      }
    } catch (const api::ApiError&) {
      for (const uint64_t id : ids) end_early(id, EarlyEnd::kRefused);
      throw;
    }
    const uint64_t number = ++last_call_;
    for (const uint64_t id : ids) call_of_.emplace(id, number);
    exchange->on_left([this, number] { drop(number, EarlyEnd::kClientLeft); });
    exchange->on_drained([this, number] { flush(number); });
    if (options_.request_timeout.count() > 0) {
      deadlines_.add(exchange->request().received + options_.request_timeout, number);
      await_deadline();
    }
    call->start();
    calls_.emplace(number, std::move(call));
    keep_streams_alive();
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
    return id;
  }

  // Streams that wait in the queue or for a long prompt get a comment now and then.
  void keep_streams_alive() {
    if (keeps_alive_ || calls_.empty() || options_.keep_alive.count() == 0) return;
    keeps_alive_ = true;
    http_.run_after(options_.keep_alive / 2, [this] {
      keeps_alive_ = false;
      const auto since = std::chrono::steady_clock::now() - options_.keep_alive / 2;
      for (const auto& [number, call] : calls_) call->keep_alive(since);
      keep_streams_alive();
    });
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
      for (const uint64_t number : deadlines_.take_due(std::chrono::steady_clock::now()))
        cut(number, error, EarlyEnd::kTimeout);
      await_deadline();
    });
  }

  void take_events() {
    if (engine_ == nullptr) return;
    std::set<uint64_t> touched;
    for (TokenEvent& event : engine_->take_events()) {
      if (operations_.on_event(event)) continue;
      const auto number = call_of_.find(event.request_id);
      if (number == call_of_.end()) continue;  // dropped meanwhile
      touched.insert(number->second);
      calls_.at(number->second)->on_event(std::move(event));
    }
    for (const uint64_t number : touched) flush(number);
    operations_.note_engine();
  }

  // Sends what there is for a call and lets go of it when that was all.
  void flush(uint64_t number) {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    GenerationCall& call = *found->second;
    call.flush();
    for (const uint64_t id : call.take_ended()) {  // the engine may not know yet, or has ended it itself
      operations_.metrics().on_stop_string(id);
      engine_->cancel(id);
      call_of_.erase(id);
    }
    if (call.held_bytes() > kMaxHeldBytes) {
      log::warn("a client reads its stream too slowly; its request is cancelled");
      call.exchange().abort();
      drop(number, EarlyEnd::kSlowClient);
    } else if (call.done()) {
      calls_.erase(found);
    }
  }

  void end_early(uint64_t id, EarlyEnd why) {
    operations_.metrics().on_ended_early(id, why);
    engine_->cancel(id);
    call_of_.erase(id);
  }

  void drop(uint64_t number, EarlyEnd why) {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    for (const uint64_t id : found->second->unended()) end_early(id, why);
    calls_.erase(found);
  }

  void cut(uint64_t number, const api::ApiError& error, EarlyEnd why) {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    for (const uint64_t id : found->second->unended()) end_early(id, why);
    const std::unique_ptr<GenerationCall> call = std::move(found->second);
    calls_.erase(found);
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
  bool keeps_alive_ = false;
  uint64_t last_call_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<GenerationCall>> calls_;  // by a number of their own
  std::unordered_map<uint64_t, uint64_t> call_of_;                       // by the engine's request id
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
