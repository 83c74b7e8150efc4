#include "bench/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace qwick {

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto n = static_cast<double>(values.size());
  const auto rank = static_cast<size_t>(std::clamp(std::ceil(share * n), 1.0, n));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json spread(std::vector<double> of_rounds) {
  if (of_rounds.empty()) return nullptr;
  std::sort(of_rounds.begin(), of_rounds.end());
  const size_t n = of_rounds.size();
  return {{"median", (of_rounds[(n - 1) / 2] + of_rounds[n / 2]) / 2},
          {"min", of_rounds.front()},
          {"max", of_rounds.back()}};
}

Json spread_of_rounds(const std::vector<Json>& rounds) {
  QWICK_CHECK(!rounds.empty());
  if (rounds.front().is_object()) {
    Json joined = Json::object();
    for (const auto& [name, value] : rounds.front().items()) {
      std::vector<Json> values;
      values.reserve(rounds.size());
      for (const Json& round : rounds) values.push_back(round.at(name));
      joined[name] = spread_of_rounds(values);
    }
    return joined;
  }
  std::vector<double> numbers;
  for (const Json& round : rounds) {
    if (round.is_number()) numbers.push_back(round.get<double>());
  }
  return spread(numbers);
}

}  // namespace qwick
