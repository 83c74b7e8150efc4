// Time to choose one token from the logits of a large vocabulary, by what the request asks for. Several
// rows take turns, as in a step of many sequences: together they are larger than the nearer caches.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "engine/sampler.h"

namespace qwick {
namespace {

constexpr size_t kVocab = 151936;
constexpr size_t kIds = 151669;  // the rest is padding
constexpr size_t kRows = 16;

// Like those of language models: a normal bulk, and a few hundred ids that stand out the less the more
// there are of them.
std::vector<float> plausible_logits() {
  std::mt19937 random(1);
  std::normal_distribution<float> bulk(0.0F, 2.0F);
  std::vector<float> logits(kRows * kVocab);
  for (float& logit : logits) logit = bulk(random);
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t rank = 0; rank < 300; ++rank)
      logits[row * kVocab + random() % kIds] = 18.0F - 2.0F * std::log(static_cast<float>(rank + 1));
  }
  return logits;
}

void sample(benchmark::State& state, SamplingParams params, double penalty) {
  static const std::vector<float> logits = plausible_logits();
  params.repetition_penalty = penalty;
  std::vector<bool> may_sample(kVocab, true);
  std::fill(may_sample.begin() + kIds, may_sample.end(), false);
  Sampler sampler(may_sample);
  std::vector<SeenToken> seen;
  for (size_t i = 0; i < 500; ++i) seen.push_back({static_cast<int32_t>(i * i * 7 % kIds), 0});
  uint64_t position = 0;
  for (auto _ : state) {
    const std::span<const float> row(logits.data() + position % kRows * kVocab, kVocab);
    benchmark::DoNotOptimize(sampler.sample(row, params, seen, position++));
  }
}

const auto registered = [] {
  struct Case {
    const char* name;
    SamplingParams params;
  };
  const Case cases[] = {{"greedy", {.temperature = 0}},
                        {"top_k_20", {.temperature = 0.6, .top_k = 20}},
                        {"top_k_20_top_p_0.95", {.temperature = 0.6, .top_k = 20, .top_p = 0.95}},
                        {"temperature", {.temperature = 0.6}},
                        {"top_p_0.9", {.temperature = 0.6, .top_p = 0.9}},
                        {"min_p_0.05", {.temperature = 0.6, .min_p = 0.05}}};
  for (const double penalty : {1.0, 1.1}) {
    for (const Case& item : cases) {
      const std::string name = std::string(item.name) + (penalty == 1 ? "" : "/penalty");
      benchmark::RegisterBenchmark(name.c_str(), sample, item.params, penalty)->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace qwick
