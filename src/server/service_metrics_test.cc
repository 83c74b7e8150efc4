// What is counted when, and where it is found again.
#include "server/service_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/test_exchange.h"

namespace qwick {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceMetrics::Time kStart{std::chrono::hours(1)};

class ServiceMetricsTest : public ::testing::Test {
 protected:
  ServiceMetricsTest() : metrics(kStart) { metrics.set_info({"1", "avx2", "q8", "m"}); }

  // The value of a sample, the one with this value of its last label where one is given.
  double value(const std::string& name, const std::optional<std::string>& label = std::nullopt) {
    for (const MetricFamily& family : metrics.collect(kStart + seconds(10), {})) {
      if (family.name != name) continue;
      for (const MetricSample& sample : family.samples) {
        if (!label || sample.labels.back().second == *label) return sample.value;
      }
    }
    ADD_FAILURE() << "no " << name;
    return -1;
  }
  const MetricHistogram& histogram(const std::string& name) {
    for (const MetricFamily& family : metrics.collect(kStart + seconds(10), {})) {
      if (family.name == name) return *family.histogram;
    }
    throw std::runtime_error("no " + name);
  }
  void token(uint64_t id, milliseconds at, std::optional<FinishReason> finish = std::nullopt) {
    metrics.on_event({id, 5, finish, 32, kStart + milliseconds(1300), kStart + at});
  }

  ServiceMetrics metrics;
};

TEST_F(ServiceMetricsTest, TimesOfARequest) {
  const FakeExchange exchange(kStart + milliseconds(1000));
  metrics.on_submit(7, exchange, 40, true);
  token(7, milliseconds(1500));
  token(7, milliseconds(1520));
  token(7, milliseconds(1600), FinishReason::kStop);
  EXPECT_NEAR(histogram("vllm:request_queue_time_seconds").sum(), 0.3, 1e-9);
  EXPECT_NEAR(histogram("vllm:request_prefill_time_seconds").sum(), 0.2, 1e-9);
  EXPECT_NEAR(histogram("vllm:request_decode_time_seconds").sum(), 0.1, 1e-9);
  EXPECT_NEAR(histogram("vllm:time_to_first_token_seconds").sum(), 0.5, 1e-9);
  EXPECT_NEAR(histogram("vllm:inter_token_latency_seconds").sum(), 0.1, 1e-9);
  EXPECT_EQ(histogram("vllm:inter_token_latency_seconds").count(), 2U);
  EXPECT_NEAR(histogram("vllm:e2e_request_latency_seconds").sum(), 0.6, 1e-9);
  EXPECT_NEAR(value("inference_latency_p50"), 600, 1e-6);
  EXPECT_EQ(value("vllm:prompt_tokens_total"), 40);
  EXPECT_EQ(value("vllm:generation_tokens_total"), 3);
  EXPECT_EQ(value("vllm:prefix_cache_queries_total"), 40);
  EXPECT_EQ(value("vllm:prefix_cache_hits_total"), 32);
  EXPECT_EQ(value("vllm:request_success_total", "stop"), 1);
}

TEST_F(ServiceMetricsTest, EachRequestEndsOnce) {
  const FakeExchange exchange(kStart);
  for (const uint64_t id : {1, 2, 3, 4}) metrics.on_submit(id, exchange, 10, true);
  token(1, milliseconds(1400));
  metrics.on_stop_string(1);
  metrics.on_event({1, std::nullopt, FinishReason::kCancelled, 0});  // that was what the server asked for
  metrics.on_ended_early(1, EarlyEnd::kClientLeft);
  metrics.on_ended_early(2, EarlyEnd::kTimeout);
  metrics.on_event({2, std::nullopt, FinishReason::kCancelled, 0});
  metrics.on_event({3, std::nullopt, FinishReason::kCancelled, 0});
  token(4, milliseconds(1400), FinishReason::kLength);
  token(9, milliseconds(1400), FinishReason::kLength);  // nobody's
  EXPECT_EQ(value("vllm:request_success_total", "stop"), 1);
  EXPECT_EQ(value("vllm:request_success_total", "length"), 1);
  EXPECT_EQ(value("vllm:request_success_total", "abort"), 2);
  EXPECT_EQ(value("qwick_requests_aborted_total", "timeout"), 1);
  EXPECT_EQ(value("qwick_requests_aborted_total", "shutdown"), 1);
  EXPECT_EQ(value("qwick_requests_aborted_total", "client_left"), 0);
  EXPECT_EQ(histogram("vllm:e2e_request_latency_seconds").count(), 2U);
  EXPECT_EQ(value("vllm:generation_tokens_total"), 2);
}

TEST_F(ServiceMetricsTest, RequestsWithoutTheCacheDontAskIt) {
  const FakeExchange exchange(kStart);
  metrics.on_submit(1, exchange, 10, false);
  token(1, milliseconds(1400));
  EXPECT_EQ(value("vllm:prompt_tokens_total"), 10);
  EXPECT_EQ(value("vllm:prefix_cache_queries_total"), 0);
}

TEST_F(ServiceMetricsTest, TokensOfAnExchangeAddUpUntilItsOutcome) {
  const FakeExchange exchange(kStart);
  metrics.on_submit(1, exchange, 10, true);
  metrics.on_submit(2, exchange, 10, true);
  token(1, milliseconds(1400), FinishReason::kLength);
  token(2, milliseconds(1400), FinishReason::kLength);
  EXPECT_EQ(metrics.tokens_of(&exchange).n_prompt, 20U);
  EXPECT_EQ(metrics.tokens_of(&exchange).n_generated, 2U);
  metrics.on_outcome({&exchange, 0, true}, "/v1/chat/completions");
  EXPECT_EQ(metrics.tokens_of(&exchange).n_generated, 0U);
  EXPECT_EQ(value("qwick_http_requests_total", "499"), 1);
}

TEST_F(ServiceMetricsTest, BusyTimeGivesUtilizationAndThroughput) {
  const FakeExchange exchange(kStart);
  metrics.on_submit(1, exchange, 10, true);
  for (int i = 0; i < 50; ++i) token(1, milliseconds(1400 + i));
  EngineStats stats;
  stats.n_blocks = 8;
  stats.n_blocks_in_use = 2;
  stats.busy_seconds = 1.5;
  metrics.on_engine(kStart + seconds(3), stats);
  stats.busy_seconds = 2.5;
  metrics.on_engine(kStart + seconds(4), stats);
  EXPECT_NEAR(value("compute_utilization"), 25, 1e-9);  // of 10 seconds
  EXPECT_NEAR(value("throughput_tokens_per_second"), 20, 1e-9);
  EXPECT_EQ(value("vllm:kv_cache_usage_perc"), 0.25);
}

TEST_F(ServiceMetricsTest, TimeToTheNextPlaceIsTheGapBetweenEnds) {
  EXPECT_EQ(metrics.seconds_to_next_place(kStart), 1);  // nothing known yet
  EngineStats stats;
  stats.busy_seconds = 20;
  metrics.on_engine(kStart + seconds(20), stats);
  EXPECT_EQ(metrics.seconds_to_next_place(kStart + seconds(20)), 20);  // none has ended in all that time
  const FakeExchange exchange(kStart);
  for (uint64_t id = 1; id <= 4; ++id) {
    metrics.on_submit(id, exchange, 10, true);
    token(id, milliseconds(19'000), FinishReason::kLength);
  }
  EXPECT_EQ(metrics.seconds_to_next_place(kStart + seconds(20)), 5);
}

}  // namespace
}  // namespace qwick
