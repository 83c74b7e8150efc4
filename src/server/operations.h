// What a server has for those who run it: health, metrics, warm-up and heartbeats, word to systemd, keys read
// again, cross-origin headers, the access log. Owned by Server, which tells it what happens; I/O thread only.
#pragma once

#include <functional>

#include "engine/engine.h"
#include "server/api_keys.h"
#include "server/cors.h"
#include "server/http.h"
#include "server/residence.h"
#include "server/routes.h"
#include "server/server_options.h"
#include "server/service_manager.h"
#include "server/service_metrics.h"

namespace qwick {

class Operations {
 public:
  // All of these outlive it; `http` may be constructed after it.
  Operations(const ServerOptions& options, ApiKeys& keys, HttpServer& http, Routes& routes);

  // Adds the routes and listens to `http`.
  void connect();
  // The model is there: warms it up, then calls `on_ready`.
  void open(Engine& engine, ServiceInfo info, GenerationRequest warm_up, std::function<void()> on_ready);
  void drain();

  // The answer to a browser's question before a request, where it is one.
  std::optional<HttpResponse> preflight(const HttpRequest& request) const;

  // True: the event was about no client's request.
  bool on_event(const TokenEvent& event);
  // After a batch of events.
  void note_engine();
  ServiceMetrics& metrics() { return metrics_; }

 private:
  enum class State { kLoading, kReady, kStopping };

  void on_warm();
  void reload();
  void watch();
  void on_outcome(const HttpOutcome& outcome);
  void log_access(const HttpOutcome& outcome) const;
  HttpResponse health() const;
  std::vector<MetricFamily> collect();

  const ServerOptions& options_;
  ApiKeys& keys_;
  HttpServer& http_;
  Routes& routes_;
  Engine* engine_ = nullptr;
  Cors cors_;
  Residence residence_;
  ServiceManager manager_;
  EngineWatch engine_watch_;
  ServiceInfo info_;
  ServiceMetrics metrics_;
  std::function<void()> on_ready_;
  State state_ = State::kLoading;
};

}  // namespace qwick
