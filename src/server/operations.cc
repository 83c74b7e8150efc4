#include "server/operations.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/openapi.h"
#include "base/json.h"
#include "base/log.h"
#include "base/printable.h"
#include "server/metrics_text.h"
#include "version.h"

namespace qwick {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxLoggedPath = 100;            // bytes
constexpr size_t kMaxLoggedBody = 64 << 10;       // bytes
constexpr std::string_view kOtherPath = "other";  // all that are none of ours, in metrics

// The beginning of a client's text, for one line of the log.
std::string logged(std::string_view text, size_t max_bytes) {
  return printable(std::string(text.substr(0, max_bytes)));
}

}  // namespace

Operations::Operations(const ServerOptions& options, ApiKeys& keys, HttpServer& http, Routes& routes)
    : options_(options),
      keys_(keys),
      http_(http),
      routes_(routes),
      cors_(options.cors_origins),
      residence_(http, options.heartbeat),
      info_{QWICK_VERSION, {}, {}, {}},
      metrics_(steady_clock::now()) {
  metrics_.set_info(info_);
}

void Operations::connect() {
  http_.on_head([this](const HttpRequest& request, HttpResponse& head) { cors_.add_headers(request, head); });
  http_.on_outcome([this](const HttpOutcome& outcome) { on_outcome(outcome); });
  http_.on_reload([this] { reload(); });
  const auto add = [this](const char* path, std::function<HttpResponse()> answer) {
    routes_.add("GET", path, Routes::Access::kOpen,
                [answer = std::move(answer)](const auto& exchange) { exchange->respond(answer()); });
  };
  add("/health", [this] { return health(); });
  add("/health/ready", [this] { return health(); });
  add("/health/live", [] { return HttpResponse{200, R"({"status":"ok"})"}; });
  add("/metrics", [this] { return HttpResponse{200, prometheus_text(collect()), kPrometheusContentType}; });
  add("/stats", [this] { return HttpResponse{200, metrics_json(collect())}; });
  add("/version", [this] {
    const Json version = {
        {"version", info_.version}, {"model", info_.model}, {"isa", info_.isa}, {"dtype", info_.dtype}};
    return HttpResponse{200, version.dump(-1, ' ', false, Json::error_handler_t::replace)};
  });
  add("/openapi.json", [] { return HttpResponse{200, std::string(api::openapi_document())}; });
  watch();
}

void Operations::open(Engine& engine, ServiceInfo info, GenerationRequest warm_up,
                      std::function<void()> on_ready) {
  if (state_ == State::kStopping) return;
  engine_ = &engine;
  info_ = std::move(info);
  info_.version = QWICK_VERSION;
  metrics_.set_info(info_);
  on_ready_ = std::move(on_ready);
  residence_.start(engine, std::move(warm_up), [this] { on_warm(); });
}

void Operations::on_warm() {
  if (state_ != State::kLoading) return;
  state_ = State::kReady;
  manager_.notify_ready();
  on_ready_();
}

void Operations::drain() {
  state_ = State::kStopping;
  residence_.stop();
  manager_.notify_stopping();
}

void Operations::reload() {
  if (state_ != State::kReady) return;
  manager_.notify_reloading();
  try {
    keys_.reload();
    log::info("reloaded: {} API keys", keys_.size());
  } catch (const std::exception& error) {
    log::error("not reloaded, the keys stay as they were: {}", error.what());
  }
  manager_.notify_ready();
}

// Tells systemd that we live, for as long as this thread and the engine's do.
void Operations::watch() {
  const auto interval = manager_.watchdog_interval();
  if (!interval) return;
  if (engine_ == nullptr || engine_watch_.is_alive(engine_->stats())) {
    manager_.notify_alive();
  } else {
    log::error("the engine has not ended a step since the last look; the watchdog is not told that we live");
  }
  http_.run_after(std::chrono::ceil<std::chrono::milliseconds>(*interval), [this] { watch(); });
}

std::optional<HttpResponse> Operations::preflight(const HttpRequest& request) const {
  return cors_.preflight(request, routes_.allowed_methods(request.path));
}

bool Operations::on_event(const TokenEvent& event) {
  if (residence_.on_event(event)) return true;
  metrics_.on_event(event);
  return false;
}

void Operations::note_engine() {
  if (engine_ != nullptr) metrics_.on_engine(steady_clock::now(), engine_->stats());
}

void Operations::on_outcome(const HttpOutcome& outcome) {
  if (options_.access_log) log_access(outcome);
  const std::string_view path =
      outcome.exchange == nullptr ? std::string_view() : routes_.known_path(outcome.exchange->request().path);
  const bool was_read = outcome.status != 400 && outcome.status != 401;
  if (options_.log_prompts && was_read && !path.empty() && !outcome.exchange->request().body.empty())
    log::info("{}: {}", path, logged(outcome.exchange->request().body, kMaxLoggedBody));
  metrics_.on_outcome(outcome, path.empty() ? kOtherPath : path);
}

void Operations::log_access(const HttpOutcome& outcome) const {
  if (outcome.exchange == nullptr) {
    log::info("{}: no valid request", outcome.status);
    return;
  }
  const HttpRequest& request = outcome.exchange->request();
  const std::chrono::duration<double, std::milli> took = steady_clock::now() - request.received;
  const TokenCounts tokens = metrics_.tokens_of(outcome.exchange);
  log::info("{} {} {}{} {:.1f} ms, {} + {} tokens", logged(request.method, 20),
            logged(request.path, kMaxLoggedPath), outcome.status, outcome.is_cut ? " cut" : "", took.count(),
            tokens.n_prompt, tokens.n_generated);
}

HttpResponse Operations::health() const {
  switch (state_) {
    case State::kLoading:
      return {503, R"({"status":"loading"})"};
    case State::kReady:
      return {200, R"({"status":"ok"})"};
    case State::kStopping:
      break;
  }
  return {503, R"({"status":"stopping"})"};
}

std::vector<MetricFamily> Operations::collect() {
  note_engine();
  return metrics_.collect(steady_clock::now(), {state_ == State::kReady, residence_.n_heartbeats()});
}

}  // namespace qwick
