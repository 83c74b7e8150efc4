// An answer is a function of its request alone: the engine with the quantised executor on the demo
// model, whatever runs beside, however the prompt is cut, with and without what the cache remembers,
// after preemption, with any number of threads. Not only the tokens are compared but, for every prefix
// that any of the engines came by, the bits of its logits.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <map>

#include "base/random.h"
#include "engine/test_engine.h"
#include "exec/cpu/cpu_executor.h"
#include "exec/cpu/isa.h"

namespace qwick {
namespace {

using testing::Answer;
using testing::collect;
using testing::TokenCache;

// What the logits after a prefix were, hashed.
struct SeenLogits {
  std::map<std::vector<int32_t>, uint64_t> by_prefix;
  size_t n_compared = 0;
  size_t n_different = 0;
};

// Passes steps on and notes the logits.
class Recorder : public Executor {
 public:
  Recorder(Executor& executor, SeenLogits& seen)
      : executor_(executor), seen_(seen), cache_(executor.options().n_blocks) {}

  const ExecutorOptions& options() const override { return executor_.options(); }
  uint32_t vocab_size() const override { return executor_.vocab_size(); }
  std::span<const float> step(const StepBatch& batch) noexcept override {
    while (hold) std::this_thread::yield();
    const std::span<const float> logits = executor_.step(batch);
    size_t row = 0;
    cache_.copy(batch.copies);
    for (const SequenceChunk& chunk : batch.chunks) {
      const std::span<const int32_t> prefix = cache_.write(chunk);
      if (chunk.n_logits == 0) continue;
      const auto bits = logits.subspan(row++ * vocab_size(), vocab_size());
      const uint64_t hash = XXH3_64bits(bits.data(), bits.size_bytes());
      const auto [found, is_new] = seen_.by_prefix.emplace(std::vector(prefix.begin(), prefix.end()), hash);
      seen_.n_compared += is_new ? 0 : 1;
      seen_.n_different += found->second == hash ? 0 : 1;
    }
    return logits;
  }

  std::atomic<bool> hold{false};

 private:
  Executor& executor_;
  SeenLogits& seen_;
  TokenCache cache_;
};

struct Conditions {
  int n_threads = 2;
  uint32_t n_blocks = 200;
  uint32_t max_step_tokens = 256;
  uint32_t max_running = 16;
  bool use_cache = true;
  size_t n_strangers = 0;
  size_t n_times = 1;  // each request, one after the other
};

GenerationRequest request(uint64_t number, size_t prompt_length, uint32_t max_tokens) {
  GenerationRequest made;
  for (size_t i = 0; i < prompt_length; ++i)
    made.prompt.push_back(static_cast<int32_t>(mix_bits(number * 1000 + i + 1) % 2000));
  made.max_tokens = max_tokens;
  made.sampling.temperature = 1.5;
  made.sampling.seed = number;
  if (number % 2 == 1) made.sampling.top_p = 0.95;
  if (number % 3 == 1) made.sampling.repetition_penalty = 1.2;
  if (number % 4 == 1) made.sampling.top_k = 50;
  return made;
}

class Determinism : public ::testing::Test {
 protected:
  Determinism() : model_(Model::open(FileSet::directory(QWICK_SOURCE_DIR "/models/demo"))) {
    ThreadPool pool(2);
    weights_ = pack_model(model_, kQ8, pool);
    wanted_ = run({.n_threads = 1, .use_cache = false}).tokens;
  }

  struct Outcome {
    std::vector<std::vector<int32_t>> tokens;  // of the three requests
    uint32_t n_reused = 0;
    EngineStats stats;
  };

  // Three requests of this test, the strangers submitted before, between and after them.
  Outcome run(const Conditions& conditions) {
    CpuExecutor executor(model_.config(), {}, weights_, choose_kernels(),
                         {conditions.n_threads, conditions.n_blocks, 1024, conditions.max_step_tokens,
                          conditions.max_running});
    Recorder recorder(executor, seen_);
    Engine engine(recorder, std::vector<bool>(2034, true), {.max_running = conditions.max_running}, nullptr);
    Outcome outcome;
    for (size_t time = 0; time < conditions.n_times; ++time) {
      recorder.hold = true;
      std::vector<uint64_t> ids;
      size_t n_submitted = 0;
      const auto submit = [&](GenerationRequest made) {
        made.use_cache = conditions.use_cache;
        ++n_submitted;
        return engine.submit(std::move(made));
      };
      for (size_t i = 0; i < std::max<size_t>(conditions.n_strangers, 1); ++i) {
        if (i < conditions.n_strangers) submit(request(100 + i, 1 + i * i % 90, 20));
        if (i == conditions.n_strangers / 2) {
          ids = {submit(request(1, 70, 60)), submit(request(2, 150, 40)), submit(request(3, 1, 60))};
        }
      }
      recorder.hold = false;
      const std::map<uint64_t, Answer> answers = collect(engine, n_submitted);
      outcome.tokens.clear();
      outcome.n_reused = 0;
      for (const uint64_t id : ids) {
        outcome.tokens.push_back(answers.at(id).tokens);
        outcome.n_reused += answers.at(id).n_reused;
      }
    }
    outcome.stats = engine.stats();
    return outcome;
  }

  Outcome check(const Conditions& conditions) {
    const size_t n_compared = seen_.n_compared;
    Outcome outcome = run(conditions);
    EXPECT_EQ(outcome.tokens, wanted_);
    EXPECT_EQ(seen_.n_different, 0U);
    EXPECT_GT(seen_.n_compared, n_compared);
    return outcome;
  }

  Model model_;
  PackedModel weights_;
  SeenLogits seen_;
  std::vector<std::vector<int32_t>> wanted_;
};

TEST_F(Determinism, AmongStrangers) {
  check({.n_strangers = 13, .n_times = 2});
}

TEST_F(Determinism, PromptsCutAnywhere) {
  for (const uint32_t max_step_tokens : {1, 7, 33}) {
    check({.max_step_tokens = max_step_tokens});
    check({.max_step_tokens = max_step_tokens, .n_strangers = 13});
  }
}

TEST_F(Determinism, AnyNumberOfThreads) {
  for (const int n_threads : {1, 2, 3}) {
    check({.n_threads = n_threads});
    check({.n_threads = n_threads, .max_step_tokens = 40, .n_strangers = 13});
  }
}

TEST_F(Determinism, PrefixFromTheCache) {
  const Outcome again = check({.n_times = 2});
  // Of prompts of 70 and 150 tokens: full blocks, and copies of the last but for its last token.
  EXPECT_EQ(again.n_reused, 64U + 5 + 128 + 21);
  const Outcome without = check({.use_cache = false, .n_times = 2});
  EXPECT_EQ(without.n_reused, 0U);
}

TEST_F(Determinism, AfterPreemption) {
  // 320 tokens for sequences that grow to 130, 190 and 61. Who is admitted beside whom, and so whether a
  // single run preempts, depends on timing.
  uint64_t n_preemptions = 0;
  for (const bool use_cache : {true, false}) {
    for (const size_t n_strangers : {0, 5}) {
      const Outcome outcome = check({.n_blocks = 10, .use_cache = use_cache, .n_strangers = n_strangers});
      n_preemptions += outcome.stats.n_preemptions;
      EXPECT_EQ(outcome.stats.n_blocks_in_use, 0U);
    }
  }
  EXPECT_GT(n_preemptions, 0U);
}

}  // namespace
}  // namespace qwick
