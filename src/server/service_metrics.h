// What the service has done so far: told by Server as things happen, collected for GET /metrics and GET
// /stats. Requests are those of clients; warm-up and heartbeats are not among them. Owned by Server; I/O
// thread only.
//
// Names and buckets are vLLM's where it has the same figure, so that its dashboards show qwick too.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "server/http.h"
#include "server/metric_family.h"
#include "server/sliding_window.h"

namespace qwick {

// Why a request ended before its answer did.
enum class EarlyEnd { kClientLeft, kSlowClient, kTimeout, kShutdown, kRefused };

struct ServiceInfo {
  std::string version;
  std::string isa;    // whose kernels run
  std::string dtype;  // of the weights
  std::string model;  // the first name under which it is served
};

// Of one HTTP request, which may be several for the engine.
struct TokenCounts {
  uint64_t n_prompt = 0;
  uint64_t n_generated = 0;
};

class ServiceMetrics {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ServiceMetrics(Time now);

  void set_info(ServiceInfo info) { info_ = std::move(info); }

  void on_submit(uint64_t id, const HttpExchange& exchange, uint32_t n_prompt_tokens, bool uses_cache);
  void on_event(const TokenEvent& event);
  // The answer is complete though the engine went on, or is not and will not be. Nothing for requests that
  // have ended before.
  void on_stop_string(uint64_t id);
  void on_ended_early(uint64_t id, EarlyEnd why);
  // `path`: one of the server's own, or "other".
  void on_outcome(const HttpOutcome& outcome, std::string_view path);
  void on_engine(Time now, const EngineStats& stats);

  TokenCounts tokens_of(const HttpExchange* exchange) const;  // until its outcome

  // How long until a request ends and a place becomes free, going by the last minute: 1 to 60.
  int seconds_to_next_place(Time now) const;

  struct State {
    bool is_ready = false;
    uint64_t n_heartbeats = 0;
  };
  // Valid until the next call to anything else here.
  std::vector<MetricFamily> collect(Time now, const State& state) const;

 private:
  struct Request {
    const HttpExchange* exchange = nullptr;
    Time received;
    uint32_t n_prompt_tokens = 0;
    bool uses_cache = true;
    uint64_t n_generated = 0;
    Time started, first_token, last_token;
  };

  void on_token(Request& request, const TokenEvent& event);
  void finish(uint64_t id, std::string_view reason);
  void add_window(std::vector<MetricFamily>& families, Time now) const;
  void add_counters(std::vector<MetricFamily>& families, const State& state) const;
  void add_histograms(std::vector<MetricFamily>& families) const;

  ServiceInfo info_;
  SlidingWindow window_;
  EngineStats engine_;
  std::unordered_map<uint64_t, Request> requests_;  // in progress, by the engine's id
  std::unordered_map<const HttpExchange*, TokenCounts> tokens_;

  uint64_t n_prompt_tokens_ = 0, n_looked_up_tokens_ = 0, n_reused_tokens_ = 0, n_generated_tokens_ = 0;
  std::map<std::string, uint64_t, std::less<>> n_finished_;  // by reason
  std::map<EarlyEnd, uint64_t> n_ended_early_;
  std::map<std::pair<std::string, int>, uint64_t> n_http_;  // by path and status

  MetricHistogram time_to_first_token_, inter_token_latency_, e2e_latency_, queue_time_, prefill_time_,
      decode_time_;
};

}  // namespace qwick
