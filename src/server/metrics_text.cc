#include "server/metrics_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/json.h"

namespace qwick {
namespace {

std::string escaped(std::string_view text, bool is_label) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && is_label) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);  // the shortest that reads back as the same
}

void add_line(std::string& out, std::string_view name, const MetricLabels& labels, double value) {
  out += name;
  char separator = '{';
  for (const auto& [label, text] : labels) {
    out += fmt::format("{}{}=\"{}\"", separator, label, escaped(text, true));
    separator = ',';
  }
  out += fmt::format("{} {}\n", separator == ',' ? "}" : "", number(value));
}

void add_histogram(std::string& out, const MetricFamily& family) {
  const MetricHistogram& histogram = *family.histogram;
  MetricLabels labels = family.histogram_labels;
  add_line(out, family.name + "_count", labels, static_cast<double>(histogram.count()));
  add_line(out, family.name + "_sum", labels, histogram.sum());
  labels.emplace_back("le", "");
  uint64_t n = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    n += histogram.counts()[i];
    labels.back().second = i < histogram.bounds().size() ? number(histogram.bounds()[i]) : "+Inf";
    add_line(out, family.name + "_bucket", labels, static_cast<double>(n));
  }
}

std::string_view type_name(MetricFamily::Type type) {
  return type == MetricFamily::Type::kCounter ? "counter"
         : type == MetricFamily::Type::kGauge ? "gauge"
                                              : "histogram";
}

Json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  constexpr double kMaxExact = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) < kMaxExact) return static_cast<int64_t>(value);
  return value;
}

Json json_samples(const MetricFamily& family) {
  Json object = Json::object();
  Json list = Json::array();
  for (const MetricSample& sample : family.samples) {
    MetricLabels labels = sample.labels;
    std::erase_if(labels, [](const auto& label) { return label.first == "model_name"; });
    if (labels.empty()) return json_number(sample.value);
    if (labels.size() == 1) {
      object[labels.front().second] = json_number(sample.value);
      continue;
    }
    Json names = Json::object();
    for (const auto& [label, text] : labels) names[label] = text;
    list.push_back({{"labels", std::move(names)}, {"value", json_number(sample.value)}});
  }
  return list.empty() ? object : list;
}

}  // namespace

void MetricHistogram::observe(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);  // bounds are inclusive
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

uint64_t MetricHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

std::string prometheus_text(std::span<const MetricFamily> families) {
  std::string out;
  for (const MetricFamily& family : families) {
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", family.name, escaped(family.help, false),
                       type_name(family.type));
    for (const MetricSample& sample : family.samples) add_line(out, family.name, sample.labels, sample.value);
    if (family.histogram != nullptr) add_histogram(out, family);
  }
  return out;
}

std::string metrics_json(std::span<const MetricFamily> families) {
  Json all = Json::object();
  for (const MetricFamily& family : families) {
    if (family.histogram != nullptr) {
      all[family.name] = {{"count", family.histogram->count()}, {"sum", family.histogram->sum()}};
    } else {
      all[family.name] = json_samples(family);
    }
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace qwick
