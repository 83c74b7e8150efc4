// Metrics as text: Prometheus' exposition format 0.0.4 for GET /metrics, JSON for GET /stats.
// Used by Server; the tests compare the first with what prometheus-cpp writes.
#pragma once

#include <span>
#include <string>

#include "server/metric_family.h"

namespace qwick {

inline constexpr const char* kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

std::string prometheus_text(std::span<const MetricFamily> families);

// One member per family: a number (null for NaN), an object by the value of the label that tells the samples
// apart ("stop": 3; several labels: a list of {labels, value}), or a histogram's count and sum.
// The label model_name is left out.
std::string metrics_json(std::span<const MetricFamily> families);

}  // namespace qwick
