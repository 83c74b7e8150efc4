#include "bench/figures.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/nearest_rank.h"

namespace qwick {

double percentile(std::vector<double> values, double share) {
  return values.empty() ? 0 : nearest_rank(values, share);
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
