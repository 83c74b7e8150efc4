// Figures on their way out: ServiceMetrics collects them, metrics_text writes them for Prometheus and
// as JSON. Plain data, owned by whoever asked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace qwick {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// Counts of observations up to each of some bounds, and their sum.
class MetricHistogram {
 public:
  // `bounds` ascend and outlive this; observations above the last are counted too.
  explicit MetricHistogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  std::span<const uint64_t> counts() const { return counts_; }  // [bounds + 1], not added up
  uint64_t count() const;
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
};

struct MetricSample {
  MetricLabels labels;
  double value = 0;
};

struct MetricFamily {
  enum class Type { kCounter, kGauge, kHistogram };

  std::string name;  // as it is written: counters with their _total
  std::string help;
  Type type = Type::kGauge;
  std::vector<MetricSample> samples;           // of counters and gauges
  const MetricHistogram* histogram = nullptr;  // or this, of the one who collected it
  MetricLabels histogram_labels = {};
};

}  // namespace qwick
