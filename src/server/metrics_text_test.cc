// Metrics as text, compared with what prometheus-cpp writes for the same figures.
#include "server/metrics_text.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"

namespace qwick {
namespace {

using Type = MetricFamily::Type;

constexpr double kBounds[] = {0.1, 0.25, 1, 2.5e9};

// Two counters, a gauge of odd values, a histogram, texts that need escaping.
std::vector<MetricFamily> sample_families(const MetricHistogram& histogram) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {
      {"requests_total",
       "All of them.",
       Type::kCounter,
       {{{{"path", "/a"}, {"status", "200"}}, 3}, {{{"path", "o\"\\\n"}, {"status", "404"}}, 1e15 + 1}}},
      {"odd",
       "Odd values.",
       Type::kGauge,
       {{{{"n", "1"}}, kInfinity},
        {{{"n", "2"}}, -kInfinity},
        {{{"n", "3"}}, std::numeric_limits<double>::quiet_NaN()},
        {{{"n", "4"}}, -0.1},
        {{{"n", "5"}}, 1e-300},
        {{{"n", "6"}}, 5e-324}}},
      {"plain", "No label.", Type::kGauge, {{{}, 0.3}}},
      {"took_seconds", "Time.", Type::kHistogram, {}, &histogram, {{"model_name", "m"}}},
  };
}

std::string oracle_text(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> theirs;
  for (const MetricFamily& family : families) {
    prometheus::MetricFamily& made = theirs.emplace_back();
    made.name = family.name;
    made.help = family.help;
    made.type = family.type == Type::kCounter ? prometheus::MetricType::Counter
                : family.type == Type::kGauge ? prometheus::MetricType::Gauge
                                              : prometheus::MetricType::Histogram;
    for (const MetricSample& sample : family.samples) {
      prometheus::ClientMetric& metric = made.metric.emplace_back();
      for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
      metric.counter.value = metric.gauge.value = sample.value;
    }
    if (family.histogram == nullptr) continue;
    prometheus::ClientMetric& metric = made.metric.emplace_back();
    for (const auto& [name, value] : family.histogram_labels) metric.label.push_back({name, value});
    metric.histogram.sample_count = family.histogram->count();
    metric.histogram.sample_sum = family.histogram->sum();
    uint64_t n = 0;
    for (size_t i = 0; i < family.histogram->counts().size(); ++i) {
      n += family.histogram->counts()[i];
      metric.histogram.bucket.push_back({n, i < family.histogram->bounds().size()
                                                ? family.histogram->bounds()[i]
                                                : std::numeric_limits<double>::infinity()});
    }
  }
  return prometheus::TextSerializer().Serialize(theirs);
}

// Lines with their numbers written in one way; prometheus-cpp rounds to 15 digits or so.
std::vector<std::string> lines_of(const std::string& text) {
  const auto plain = [](const std::string& number) {
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    EXPECT_EQ(*end, '\0') << number;
    return fmt::format("{}", value);
  };
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_NE(end, std::string::npos);
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with('#')) {
      const size_t space = line.rfind(' ');
      line = line.substr(0, space + 1) + plain(line.substr(space + 1));
      if (const size_t le = line.find("le=\""); le != std::string::npos) {
        const size_t quote = line.find('"', le + 4);
        line = line.substr(0, le + 4) + plain(line.substr(le + 4, quote - le - 4)) + line.substr(quote);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(MetricsText, IsWhatPrometheusCppWrites) {
  MetricHistogram histogram(kBounds);
  for (const double value : {0.05, 0.1, 0.11, 1.0, 2.0, 3e9, 1e12}) histogram.observe(value);
  const std::vector<MetricFamily> families = sample_families(histogram);
  EXPECT_EQ(lines_of(prometheus_text(families)), lines_of(oracle_text(families)));
}

TEST(MetricsText, HistogramBoundsAreInclusive) {
  MetricHistogram histogram(kBounds);
  for (const double value : {0.1, 0.2, 0.25, 0.3, 3e9}) histogram.observe(value);
  EXPECT_EQ(std::vector<uint64_t>(histogram.counts().begin(), histogram.counts().end()),
            (std::vector<uint64_t>{1, 2, 1, 0, 1}));
  EXPECT_EQ(histogram.count(), 5U);
}

TEST(MetricsText, JsonHasTheSameFigures) {
  MetricHistogram histogram(kBounds);
  histogram.observe(0.5);
  const Json json = parse_json(metrics_json(sample_families(histogram)), "stats");
  EXPECT_EQ(json["requests_total"][0]["labels"]["path"], "/a");
  EXPECT_EQ(json["requests_total"][1]["value"], 1000000000000001);
  EXPECT_TRUE(json["odd"]["3"].is_null());
  EXPECT_EQ(json["odd"]["4"], -0.1);
  EXPECT_EQ(json["plain"], 0.3);
  EXPECT_EQ(json["took_seconds"]["count"], 1);
  EXPECT_EQ(json["took_seconds"]["sum"], 0.5);
}

}  // namespace
}  // namespace qwick
