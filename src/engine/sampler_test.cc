// The sampler against transformers' own processors (tests/golden/sampling.json, made by
// tools/goldens/make_sampling.py), and what they don't show: padding, draws, hostile logits.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/file.h"
#include "base/json.h"

namespace qwick {
namespace {

std::vector<int32_t> distinct(std::vector<int32_t> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

TEST(Sampler, KeepsWhatTransformersKeeps) {
  const MappedFile file = MappedFile::open(QWICK_SOURCE_DIR "/tests/golden/sampling.json");
  const Json cases = parse_json(file.text(), file.name());
  double largest_difference = 0;
  for (const Json& item : cases) {
    const auto logits = item["logits"].get<std::vector<float>>();
    const SamplingParams params{item["temperature"].get<double>(),
                                item["top_k"].get<int32_t>(),
                                item["top_p"].get<double>(),
                                item["min_p"].get<double>(),
                                item["repetition_penalty"].get<double>(),
                                0};
    Sampler sampler(std::vector<bool>(logits.size(), true));
    const auto seen = distinct(item["seen"].get<std::vector<int32_t>>());
    // By probability: among equals at the edge of top-p, which ids stay is an accident of sorting.
    std::vector<double> kept;
    for (const auto& [id, probability] : sampler.distribution(logits, params, seen))
      kept.push_back(probability);
    const auto expected = item["kept"].get<std::map<std::string, double>>();
    std::vector<double> wanted;
    for (const auto& [id, probability] : expected) wanted.push_back(probability);
    std::sort(kept.rbegin(), kept.rend());
    std::sort(wanted.rbegin(), wanted.rend());
    // Where nothing was cut, the smallest probabilities are below what the golden can hold.
    while (kept.size() > wanted.size() && kept.back() < 1e-40) kept.pop_back();
    ASSERT_EQ(kept.size(), wanted.size()) << item.dump();
    for (size_t i = 0; i < kept.size(); ++i) {
      largest_difference = std::max(largest_difference, std::abs(kept[i] - wanted[i]));
    }
    if (std::adjacent_find(wanted.begin(), wanted.end()) != wanted.end()) continue;
    for (const auto& [id, probability] : sampler.distribution(logits, params, seen)) {
      ASSERT_TRUE(probability < 1e-40 || expected.contains(std::to_string(id))) << item.dump();
    }
  }
  std::printf("%zu distributions compared, largest difference %.2e\n", cases.size(), largest_difference);
  EXPECT_LT(largest_difference, 1e-5);
}

TEST(Sampler, GreedyTakesTheFirstOfEquals) {
  Sampler sampler({true, true, true, true});
  SamplingParams greedy;
  greedy.temperature = 0;
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 5, 5, 2}, greedy, {}, 0), 1);
}

TEST(Sampler, NeverChoosesPadding) {
  Sampler sampler({true, false, true});
  const std::vector<float> logits{0, 100, 1, 200};
  SamplingParams params;
  for (uint64_t position = 0; position < 100; ++position) {
    const int32_t id = sampler.sample(logits, params, {}, position);
    EXPECT_TRUE(id == 0 || id == 2);
  }
  params.temperature = 0;
  EXPECT_EQ(sampler.sample(logits, params, {}, 0), 2);
}

TEST(Sampler, DrawsByProbability) {
  Sampler sampler(std::vector<bool>(3, true));
  const std::vector<float> logits{std::log(0.2F), std::log(0.5F), std::log(0.3F)};
  std::vector<int> counts(3);
  const int n = 20000;
  for (int i = 0; i < n; ++i)
    ++counts[static_cast<size_t>(sampler.sample(logits, {}, {}, static_cast<uint64_t>(i)))];
  // Five standard deviations of a binomial.
  EXPECT_NEAR(counts[0], 0.2 * n, 5 * std::sqrt(n * 0.2 * 0.8));
  EXPECT_NEAR(counts[1], 0.5 * n, 5 * std::sqrt(n * 0.5 * 0.5));
}

TEST(Sampler, LargeVocabularyTopP) {
  // Flat: the nucleus is far wider than what is ordered first.
  const size_t vocab = 50000;
  Sampler sampler(std::vector<bool>(vocab, true));
  SamplingParams params;
  params.top_p = 0.5;
  EXPECT_NEAR(static_cast<double>(sampler.distribution(std::vector<float>(vocab, 0.0F), params, {}).size()),
              vocab / 2.0, 1.0);
}

TEST(Sampler, SurvivesHostileLogits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  Sampler sampler(std::vector<bool>(4, true));
  const std::vector<std::vector<float>> hostile{
      {nan, nan, nan, nan}, {-inf, -inf, -inf, -inf}, {inf, inf, 0, nan}, {nan, 1, -inf, 0}};
  for (const auto& logits : hostile) {
    for (const double temperature : {0.0, 1e-300, 1.0, 2.0}) {
      for (const double top_p : {0.0, 0.9, 1.0}) {
        const SamplingParams params{temperature, 2, top_p, 0.1, 1.5, 7};
        const int32_t id = sampler.sample(logits, params, std::vector<int32_t>{0, 1}, 3);
        EXPECT_GE(id, 0);
        EXPECT_LT(id, 4);
      }
    }
  }
}

TEST(UniformDraw, DependsOnSeedAndPositionAlone) {
  EXPECT_EQ(uniform_draw(1, 2), uniform_draw(1, 2));
  EXPECT_NE(uniform_draw(1, 2), uniform_draw(2, 1));
  double sum = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const double x = uniform_draw(42, i);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace qwick
