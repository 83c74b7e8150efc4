#include "server/service_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace qwick {
namespace {

// vLLM's (vllm/v1/metrics/buckets.py), in seconds.
constexpr double kLatencyBounds[] = {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
                                     30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
constexpr double kFirstTokenBounds[] = {0.001, 0.005, 0.01, 0.02,  0.04,  0.06,  0.08, 0.1,
                                        0.25,  0.5,   0.75, 1.0,   2.5,   5.0,   7.5,  10.0,
                                        20.0,  40.0,  80.0, 160.0, 640.0, 2560.0};
constexpr double kInterTokenBounds[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
                                        0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};

using Type = MetricFamily::Type;

double seconds_between(ServiceMetrics::Time from, ServiceMetrics::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string_view early_end_name(EarlyEnd why) {
  switch (why) {
    case EarlyEnd::kClientLeft:
      return "client_left";
    case EarlyEnd::kSlowClient:
      return "slow_client";
    case EarlyEnd::kTimeout:
      return "timeout";
    case EarlyEnd::kShutdown:
      return "shutdown";
    case EarlyEnd::kRefused:
      return "refused";
  }
  return "";
}

// Resident set, in units of 2^20 bytes.
double resident_mib() {
  uint64_t n_pages = 0;
  uint64_t n_resident = 0;
  std::ifstream("/proc/self/statm") >> n_pages >> n_resident;
  return static_cast<double>(n_resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace

ServiceMetrics::ServiceMetrics(Time now)
    : window_(now),
      time_to_first_token_(kFirstTokenBounds),
      inter_token_latency_(kInterTokenBounds),
      e2e_latency_(kLatencyBounds),
      queue_time_(kLatencyBounds),
      prefill_time_(kLatencyBounds),
      decode_time_(kLatencyBounds) {
  for (const char* reason : {"stop", "length", "abort"}) n_finished_[reason] = 0;
  for (const auto why : {EarlyEnd::kClientLeft, EarlyEnd::kSlowClient, EarlyEnd::kTimeout,
                         EarlyEnd::kShutdown, EarlyEnd::kRefused}) {
    n_ended_early_[why] = 0;
  }
}

void ServiceMetrics::on_submit(uint64_t id, const HttpExchange& exchange, uint32_t n_prompt_tokens,
                               bool uses_cache) {
  Request& request = requests_[id];
  request.exchange = &exchange;
  request.received = exchange.request().received;
  request.n_prompt_tokens = n_prompt_tokens;
  request.uses_cache = uses_cache;
  tokens_[&exchange];
}

void ServiceMetrics::on_event(const TokenEvent& event) {
  const auto found = requests_.find(event.request_id);
  if (found == requests_.end()) return;
  if (event.token) on_token(found->second, event);
  if (event.finish == FinishReason::kStop) finish(event.request_id, "stop");
  if (event.finish == FinishReason::kLength) finish(event.request_id, "length");
  if (event.finish == FinishReason::kCancelled) on_ended_early(event.request_id, EarlyEnd::kShutdown);
}

void ServiceMetrics::on_token(Request& request, const TokenEvent& event) {
  TokenCounts& tokens = tokens_[request.exchange];
  if (request.n_generated == 0) {
    request.started = event.started;
    request.first_token = event.at;
    n_prompt_tokens_ += request.n_prompt_tokens;
    if (request.uses_cache) n_looked_up_tokens_ += request.n_prompt_tokens;
    n_reused_tokens_ += event.n_reused;
    tokens.n_prompt += request.n_prompt_tokens;
    time_to_first_token_.observe(seconds_between(request.received, event.at));
  } else {
    inter_token_latency_.observe(seconds_between(request.last_token, event.at));
  }
  request.last_token = event.at;
  ++request.n_generated;
  ++tokens.n_generated;
  ++n_generated_tokens_;
  window_.add_token(event.at);
}

void ServiceMetrics::on_stop_string(uint64_t id) {
  finish(id, "stop");
}

void ServiceMetrics::on_ended_early(uint64_t id, EarlyEnd why) {
  if (requests_.erase(id) == 0) return;
  ++n_finished_["abort"];
  ++n_ended_early_[why];
}

void ServiceMetrics::finish(uint64_t id, std::string_view reason) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  const Request& request = found->second;
  ++n_finished_.find(reason)->second;
  const double latency = seconds_between(request.received, request.last_token);
  e2e_latency_.observe(latency);
  queue_time_.observe(seconds_between(request.received, request.started));
  prefill_time_.observe(seconds_between(request.started, request.first_token));
  decode_time_.observe(seconds_between(request.first_token, request.last_token));
  window_.add_finished(request.last_token);
  window_.add_latency(request.last_token, latency);
  requests_.erase(found);
}

void ServiceMetrics::on_outcome(const HttpOutcome& outcome, std::string_view path) {
  constexpr int kClientClosedRequest = 499;  // nginx's name for an answer that nobody waited for
  ++n_http_[{std::string(path), outcome.status == 0 ? kClientClosedRequest : outcome.status}];
  tokens_.erase(outcome.exchange);
}

void ServiceMetrics::on_engine(Time now, const EngineStats& stats) {
  window_.add_busy(now, stats.busy_seconds - engine_.busy_seconds);
  engine_ = stats;
}

TokenCounts ServiceMetrics::tokens_of(const HttpExchange* exchange) const {
  const auto found = tokens_.find(exchange);
  return found == tokens_.end() ? TokenCounts{} : found->second;
}

int ServiceMetrics::seconds_to_next_place(Time now) const {
  constexpr double kMost = 60;
  const WindowFigures last = window_.figures(now);
  const double mean_gap = last.busy_seconds / static_cast<double>(std::max<uint64_t>(last.n_finished, 1));
  return static_cast<int>(std::clamp(std::ceil(mean_gap), 1.0, kMost));
}

std::vector<MetricFamily> ServiceMetrics::collect(Time now, const State& state) const {
  std::vector<MetricFamily> families;
  families.push_back(
      {"qwick_build_info",
       "What runs: always 1.",
       Type::kGauge,
       {{{{"version", info_.version}, {"isa", info_.isa}, {"dtype", info_.dtype}, {"model", info_.model}},
         1}}});
  add_window(families, now);
  add_counters(families, state);
  add_histograms(families);
  return families;
}

void ServiceMetrics::add_window(std::vector<MetricFamily>& families, Time now) const {
  const WindowFigures last = window_.figures(now);
  const auto add = [&](const char* name, const char* help, double value) {
    families.push_back({name, help, Type::kGauge, {{{}, value}}});
  };
  constexpr double kMilliseconds = 1e3;
  add("inference_latency_p50", "Median milliseconds from a request to the end of its answer, over a minute.",
      last.latency_p50 * kMilliseconds);
  add("inference_latency_p95",
      "Milliseconds to the end of the answer that 95 % of requests stay under, over a minute.",
      last.latency_p95 * kMilliseconds);
  add("inference_latency_p99",
      "Milliseconds to the end of the answer that 99 % of requests stay under, over a minute.",
      last.latency_p99 * kMilliseconds);
  add("throughput_tokens_per_second",
      "Tokens generated for each second that the engine worked, over a minute.",
      last.busy_seconds > 0 ? static_cast<double>(last.n_tokens) / last.busy_seconds : 0);
  add("compute_utilization", "Percent of the time that the engine's threads computed, over a minute.",
      last.seconds > 0 ? std::min(100.0, 100 * last.busy_seconds / last.seconds) : 0);
  add("memory_usage_mb", "Resident memory of the process in MiB.", resident_mib());
}

void ServiceMetrics::add_counters(std::vector<MetricFamily>& families, const State& state) const {
  const MetricLabels model{{"model_name", info_.model}};
  const auto add = [&](Type type, const char* name, const char* help, double value,
                       const MetricLabels& labels) {
    families.push_back({name, help, type, {{labels, value}}});
  };
  const auto count = [](uint64_t n) { return static_cast<double>(n); };
  add(Type::kGauge, "vllm:num_requests_running", "Requests at work in the engine.", count(engine_.n_running),
      model);
  add(Type::kGauge, "vllm:num_requests_waiting", "Requests that wait for the engine.",
      count(engine_.n_waiting), model);
  add(Type::kGauge, "vllm:kv_cache_usage_perc", "Share of the cache's blocks in use; 1 is all.",
      engine_.n_blocks == 0 ? 0 : count(engine_.n_blocks_in_use) / engine_.n_blocks, model);
  add(Type::kCounter, "vllm:prefix_cache_queries_total", "Prompt tokens looked for in the prefix cache.",
      count(n_looked_up_tokens_), model);
  add(Type::kCounter, "vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache.",
      count(n_reused_tokens_), model);
  add(Type::kCounter, "vllm:num_preemptions_total", "Requests that gave their cache back for a while.",
      count(engine_.n_preemptions), model);
  add(Type::kCounter, "vllm:prompt_tokens_total", "Prompt tokens read, those from the cache included.",
      count(n_prompt_tokens_), model);
  add(Type::kCounter, "vllm:generation_tokens_total", "Tokens generated.", count(n_generated_tokens_), model);
  MetricFamily finished{"vllm:request_success_total", "Requests that ended, by reason.", Type::kCounter, {}};
  for (const auto& [reason, n] : n_finished_)
    finished.samples.push_back({{{"model_name", info_.model}, {"finished_reason", reason}}, count(n)});
  families.push_back(std::move(finished));
  MetricFamily early{"qwick_requests_aborted_total",
                     "Requests that ended before their answer, by reason.",
                     Type::kCounter,
                     {}};
  for (const auto& [why, n] : n_ended_early_)
    early.samples.push_back({{{"reason", std::string(early_end_name(why))}}, count(n)});
  families.push_back(std::move(early));
  MetricFamily http{"qwick_http_requests_total",
                    "Requests over HTTP by path and status; 499: the client left first.",
                    Type::kCounter,
                    {}};
  for (const auto& [key, n] : n_http_)
    http.samples.push_back({{{"path", key.first}, {"status", std::to_string(key.second)}}, count(n)});
  families.push_back(std::move(http));
  add(Type::kCounter, "qwick_engine_busy_seconds_total", "Seconds that the engine's threads computed.",
      engine_.busy_seconds, {});
  add(Type::kCounter, "qwick_heartbeats_total", "Tiny steps to keep an idle service warm.",
      count(state.n_heartbeats), {});
  add(Type::kGauge, "qwick_ready", "1 where GET /health/ready says 200.", state.is_ready ? 1 : 0, {});
}

void ServiceMetrics::add_histograms(std::vector<MetricFamily>& families) const {
  const auto add = [&](const char* name, const char* help, const MetricHistogram& histogram) {
    families.push_back({name, help, Type::kHistogram, {}, &histogram, {{"model_name", info_.model}}});
  };
  add("vllm:time_to_first_token_seconds", "From a request to its first token.", time_to_first_token_);
  add("vllm:inter_token_latency_seconds", "From a token of an answer to the next.", inter_token_latency_);
  add("vllm:e2e_request_latency_seconds", "From a request to its last token.", e2e_latency_);
  add("vllm:request_queue_time_seconds", "From a request to the first step that works on it.", queue_time_);
  add("vllm:request_prefill_time_seconds", "From the first step to the first token.", prefill_time_);
  add("vllm:request_decode_time_seconds", "From the first token to the last.", decode_time_);
}

}  // namespace qwick
