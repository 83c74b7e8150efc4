// The sampler against transformers' own processors (tests/golden/sampling.json, made by
// tools/goldens/make_sampling.py), and what they don't show: padding, draws, hostile logits.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "base/file.h"
#include "base/json.h"

namespace qwick {
namespace {

// As a prompt leaves them.
std::vector<SeenToken> distinct(std::vector<int32_t> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<SeenToken> seen;
  seen.reserve(ids.size());
  for (const int32_t id : ids) seen.push_back({id, 0});
  return seen;
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
        const int32_t id = sampler.sample(logits, params, distinct({0, 1}), 3);
        EXPECT_GE(id, 0);
        EXPECT_LT(id, 4);
      }
    }
  }
}

// The same written out: every step over a list of all ids.
std::vector<TokenProbability> plain_distribution(std::vector<float> logits,
                                                 const std::vector<bool>& may_sample,
                                                 const SamplingParams& params,
                                                 std::span<const SeenToken> seen,
                                                 std::span<const int32_t> banned) {
  struct Entry {
    int32_t id;
    float logit;
  };
  const auto penalty = static_cast<float>(params.repetition_penalty);
  for (const auto& [id, bias] : params.logit_bias) logits[static_cast<size_t>(id)] += bias;
  for (const auto& [id, n_generated] : seen) {
    float& logit = logits[static_cast<size_t>(id)];
    if (penalty != 1) logit = logit < 0 ? logit * penalty : logit / penalty;
    logit -= static_cast<float>(params.frequency_penalty) * static_cast<float>(n_generated);
    if (n_generated > 0) logit -= static_cast<float>(params.presence_penalty);
  }
  for (const int32_t id : banned) logits[static_cast<size_t>(id)] = -std::numeric_limits<float>::infinity();
  std::vector<Entry> entries;
  for (size_t id = 0; id < may_sample.size(); ++id) {
    if (may_sample[id]) entries.push_back({static_cast<int32_t>(id), logits[id]});
  }
  const auto is_worse = [](const Entry& a, const Entry& b) { return a.logit < b.logit; };
  const Entry best = *std::max_element(entries.begin(), entries.end(), is_worse);
  if (params.temperature == 0) return {{best.id, 1.0}};
  for (Entry& entry : entries) {
    const double below = static_cast<double>(entry.logit) - best.logit;
    entry.logit = entry.logit == best.logit ? 0.0F : static_cast<float>(below / params.temperature);
  }

  const auto sum = [&] {
    double total = 0;
    for (const Entry& entry : entries) total += std::exp(entry.logit);
    return total;
  };
  const auto sort = [&] {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.logit > b.logit; });
  };
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < entries.size()) {
    sort();
    const float threshold = entries[static_cast<size_t>(params.top_k) - 1].logit;
    std::erase_if(entries, [&](const Entry& entry) { return entry.logit < threshold; });
  }
  if (params.top_p < 1) {
    const double total = sum();
    sort();
    double mass = 0;
    size_t n_kept = 0;
    while (n_kept < entries.size() && (n_kept == 0 || mass < params.top_p * total))
      mass += std::exp(entries[n_kept++].logit);
    entries.resize(n_kept);
  }
  std::erase_if(entries, [&](const Entry& entry) { return std::exp(entry.logit) < params.min_p; });
  const double total = sum();
  std::vector<TokenProbability> result;
  result.reserve(entries.size());
  for (const Entry& entry : entries) result.push_back({entry.id, std::exp(entry.logit) / total});
  return result;
}

// Logits of many kinds: of all sizes, with ties, with minus infinity, hardly or very different.
std::vector<float> odd_logits(size_t n, std::mt19937& random) {
  std::normal_distribution<float> normal(0, std::pow(10.0F, static_cast<float>(random() % 4) - 1));
  const uint32_t kind = random() % 4;
  std::vector<float> logits(n);
  for (float& logit : logits) {
    logit = normal(random);
    if (kind == 1) logit = std::round(logit);
    if (kind == 2 && random() % 3 == 0) logit = -std::numeric_limits<float>::infinity();
    if (kind == 3) logit = random() % 5 == 0 ? -0.0F : 0.0F;
  }
  return logits;
}

std::vector<bool> odd_choice(size_t n, std::mt19937& random) {
  const uint32_t kind = random() % 4;
  std::vector<bool> may_sample(n, true);
  for (size_t id = 0; id < n; ++id) {
    if (kind == 1) may_sample[id] = random() % 50 != 0;
    if (kind == 2) may_sample[id] = id % 2 == 0;
    if (kind == 3) may_sample[id] = id >= n / 3 && id < n - n / 5;
  }
  may_sample[n / 2] = true;
  return may_sample;
}

TEST(Sampler, AgreesWithPlainOne) {
  std::mt19937 random(7);
  const auto one_of = [&](std::initializer_list<double> values) {
    return values.begin()[random() % values.size()];
  };
  size_t n_kept = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t n = 1 + random() % (round % 10 == 0 ? 5000 : 600);
    const std::vector<float> logits = odd_logits(n, random);
    const std::vector<bool> may_sample = odd_choice(n, random);
    const auto some_ids = [&](size_t most) {
      std::vector<int32_t> ids(random() % most);
      for (int32_t& id : ids) id = static_cast<int32_t>(random() % n);
      return ids;
    };
    SamplingParams params{.temperature = one_of({0, 1e-30, 0.1, 0.6, 1, 1.7, 1e8}),
                          .top_k = static_cast<int32_t>(one_of({0, 0, 1, 2, 20, 40, 1000})),
                          .top_p = one_of({0, 0.5, 0.95, 0.999, 1, 1}),
                          .min_p = one_of({0, 0, 0.05, 0.5, 1}),
                          .repetition_penalty = one_of({1, 1, 1.3, 0.8}),
                          .seed = random(),
                          .presence_penalty = one_of({0, 0, 1.5, -2}),
                          .frequency_penalty = one_of({0, 0, 0.5, -1})};
    for (const int32_t id : some_ids(round % 3 == 0 ? 10 : 1))
      params.logit_bias.push_back({id, static_cast<float>(one_of({-100, -1, 2, 100}))});
    std::vector<SeenToken> seen = distinct(some_ids(40));
    for (SeenToken& token : seen) token.n_generated = static_cast<uint32_t>(random() % 3);
    const std::vector<int32_t> banned = some_ids(round % 4 == 0 ? 5 : 1);
    Sampler sampler(may_sample);
    const auto wanted = plain_distribution(logits, may_sample, params, seen, banned);
    const auto kept = sampler.distribution(logits, params, seen, banned);
    ASSERT_EQ(kept.size(), wanted.size()) << "round " << round;
    for (size_t i = 0; i < kept.size(); ++i) {
      ASSERT_EQ(kept[i].id, wanted[i].id) << "round " << round;
      ASSERT_EQ(kept[i].probability, wanted[i].probability) << "round " << round;
    }
    for (uint64_t position = 0; position < 5; ++position) {
      double rest = uniform_draw(params.seed, position);
      size_t i = 0;
      while (i + 1 < wanted.size() && (rest -= wanted[i].probability) >= 0) ++i;
      ASSERT_EQ(sampler.sample(logits, params, seen, position, banned), wanted[i].id) << "round " << round;
    }
    n_kept += kept.size();
  }
  std::printf("3000 distributions of %zu ids compared\n", n_kept);
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
