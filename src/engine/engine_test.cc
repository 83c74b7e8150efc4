// The engine over a made-up model whose next token is a function of all tokens before it, so that
// any mistake in batching, chunking or caching changes the answer.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "base/check.h"

namespace qwick {
namespace {

constexpr uint32_t kVocab = 101;

int32_t next_token(uint64_t hash) {
  return static_cast<int32_t>(hash % kVocab);
}
uint64_t add_token(uint64_t hash, int32_t token) {
  return (hash ^ static_cast<uint64_t>(token)) * 1099511628211ULL + 1;
}

// Its cache holds the tokens themselves; what it answers is read back through the block tables.
class HashExecutor : public Executor {
 public:
  explicit HashExecutor(uint32_t n_blocks) : memory_(n_blocks * kCacheBlockTokens, -1) {
    options_.n_blocks = n_blocks;
    options_.max_positions = 1000;
    options_.max_step_tokens = 16;
    options_.max_step_logits = 16;
  }

  const ExecutorOptions& options() const override { return options_; }
  uint32_t vocab_size() const override { return kVocab; }

  std::span<const float> step(const StepBatch& batch) noexcept override {
    while (hold) std::this_thread::yield();
    logits_.clear();
    uint32_t n_tokens = 0;
    for (const SequenceChunk& chunk : batch.chunks) {
      const auto at = [&](size_t position) -> int32_t& {
        QWICK_CHECK(position / kCacheBlockTokens < chunk.blocks.size());
        return memory_[static_cast<size_t>(chunk.blocks[position / kCacheBlockTokens]) * kCacheBlockTokens +
                       position % kCacheBlockTokens];
      };
      for (size_t i = 0; i < chunk.tokens.size(); ++i) at(chunk.position + i) = chunk.tokens[i];
      n_tokens += static_cast<uint32_t>(chunk.tokens.size());
      if (chunk.n_logits == 0) continue;
      uint64_t hash = 0;
      for (size_t i = 0; i < chunk.position + chunk.tokens.size(); ++i) hash = add_token(hash, at(i));
      logits_.resize(logits_.size() + kVocab);
      logits_[logits_.size() - kVocab + static_cast<size_t>(next_token(hash))] = 1;
    }
    QWICK_CHECK(n_tokens <= options_.max_step_tokens && n_tokens > 0);
    n_computed += n_tokens;
    largest_batch = std::max(largest_batch.load(), static_cast<uint32_t>(batch.chunks.size()));
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return logits_;
  }

  std::atomic<uint64_t> n_computed{0};  // tokens
  std::atomic<uint32_t> largest_batch{0};
  std::atomic<bool> slow{false};
  std::atomic<bool> hold{false};

 private:
  ExecutorOptions options_;
  std::vector<int32_t> memory_;  // [n_blocks, kCacheBlockTokens]
  std::vector<float> logits_;
};

GenerationRequest request(size_t prompt_length, uint32_t max_tokens, int32_t first = 1) {
  GenerationRequest made;
  for (size_t i = 0; i < prompt_length; ++i)
    made.prompt.push_back((first + static_cast<int32_t>(i) * 7) % 101);
  made.max_tokens = max_tokens;
  made.sampling.temperature = 0;
  return made;
}

std::vector<int32_t> expected_answer(const GenerationRequest& asked) {
  uint64_t hash = 0;
  for (const int32_t token : asked.prompt) hash = add_token(hash, token);
  std::vector<int32_t> answer;
  while (answer.size() < asked.max_tokens) {
    answer.push_back(next_token(hash));
    hash = add_token(hash, answer.back());
  }
  return answer;
}

struct Answer {
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kCancelled;
};

// Collects events until n requests have ended.
std::map<uint64_t, Answer> collect(Engine& engine, size_t n) {
  std::map<uint64_t, Answer> answers;
  for (size_t n_finished = 0; n_finished < n;) {
    for (const TokenEvent& event : engine.take_events()) {
      Answer& answer = answers[event.request_id];
      if (event.token) answer.tokens.push_back(*event.token);
      if (event.finish) {
        answer.finish = *event.finish;
        ++n_finished;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return answers;
}

const std::vector<bool> kAll(kVocab, true);

TEST(Engine, ManyRequestsEachGetTheirOwnAnswer) {
  HashExecutor executor(400);
  executor.hold = true;
  Engine engine(executor, kAll, {.max_queue = 100, .max_running = 4}, nullptr);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 40; ++i) {
    GenerationRequest made = request(1 + static_cast<size_t>(i) * 5, 1 + static_cast<uint32_t>(i) % 13, i);
    asked[engine.submit(made)] = made;
  }
  executor.hold = false;
  const auto answers = collect(engine, asked.size());
  for (const auto& [id, made] : asked) {
    EXPECT_EQ(answers.at(id).tokens, expected_answer(made));
    EXPECT_EQ(answers.at(id).finish, FinishReason::kLength);
  }
  EXPECT_EQ(executor.largest_batch, 4U);
  EXPECT_EQ(engine.stats().n_running, 0U);
  EXPECT_EQ(engine.stats().n_waiting, 0U);
  EXPECT_EQ(engine.stats().n_blocks_in_use, 0U);
}

TEST(Engine, PrefixIsComputedOnce) {
  HashExecutor executor(100);
  Engine engine(executor, kAll, {}, nullptr);
  const auto run = [&](const GenerationRequest& asked) {
    const uint64_t before = executor.n_computed;
    const uint64_t id = engine.submit(asked);
    EXPECT_EQ(collect(engine, 1).at(id).tokens, expected_answer(asked));
    return executor.n_computed - before;
  };
  GenerationRequest first = request(200, 20);
  EXPECT_EQ(run(first), 219U);
  EXPECT_EQ(run(first), 219U - 192);  // six full blocks of the prompt
  // The next turn of the conversation: the answer is in the cache too.
  GenerationRequest second = first;
  for (const int32_t token : expected_answer(first)) second.prompt.push_back(token);
  second.prompt.push_back(5);
  EXPECT_EQ(run(second), 221U + 19 - 192);
  EXPECT_EQ(engine.stats().n_reused_tokens, 192U + 192);
  // A prompt of whole blocks leaves its last token to compute.
  GenerationRequest whole = first;
  whole.prompt.resize(192);
  EXPECT_EQ(run(whole), 192U + 19 - 160);
  // Neither reads nor leaves anything.
  first.use_cache = false;
  EXPECT_EQ(run(first), 219U);
  GenerationRequest other = request(200, 1, 50);
  other.use_cache = false;
  EXPECT_EQ(run(other), 200U);
  EXPECT_EQ(run(other), 200U);
}

TEST(Engine, PreemptionLosesNothing) {
  HashExecutor executor(12);  // 384 tokens for 6 sequences that grow to 190 each
  Engine engine(executor, kAll, {.max_queue = 100, .max_running = 6}, nullptr);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 12; ++i) {
    GenerationRequest made = request(30 + static_cast<size_t>(i), 150, i);
    made.use_cache = i % 3 != 0;
    asked[engine.submit(made)] = made;
  }
  const auto answers = collect(engine, asked.size());
  for (const auto& [id, made] : asked) EXPECT_EQ(answers.at(id).tokens, expected_answer(made));
  EXPECT_GT(engine.stats().n_preemptions, 0U);
  EXPECT_EQ(engine.stats().n_blocks_in_use, 0U);
}

TEST(Engine, StopIdEndsTheAnswer) {
  HashExecutor executor(32);
  Engine engine(executor, kAll, {}, nullptr);
  GenerationRequest made = request(5, 10);
  const std::vector<int32_t> full = expected_answer(made);
  made.stop_ids = {full[3]};
  const uint64_t id = engine.submit(made);
  const Answer answer = collect(engine, 1).at(id);
  const auto first = std::find(full.begin(), full.end(), full[3]);
  EXPECT_EQ(answer.tokens, std::vector<int32_t>(full.begin(), first + 1));
  EXPECT_EQ(answer.finish, FinishReason::kStop);
}

TEST(Engine, CancelFreesThePlace) {
  HashExecutor executor(32);
  executor.slow = true;
  Engine engine(executor, kAll, {.max_running = 1}, nullptr);
  const uint64_t running = engine.submit(request(3, 900));
  const uint64_t waiting = engine.submit(request(3, 900));
  const uint64_t last = engine.submit(request(3, 2));
  engine.cancel(waiting);
  engine.cancel(running);
  engine.cancel(12345);  // unknown: nothing happens
  const auto answers = collect(engine, 3);
  EXPECT_EQ(answers.at(running).finish, FinishReason::kCancelled);
  EXPECT_EQ(answers.at(waiting).finish, FinishReason::kCancelled);
  EXPECT_EQ(answers.at(last).tokens, expected_answer(request(3, 2)));
}

TEST(Engine, FullQueueRefuses) {
  HashExecutor executor(32);
  executor.slow = true;
  Engine engine(executor, kAll, {.max_queue = 2, .max_running = 1}, nullptr);
  size_t n_accepted = 0;
  for (int i = 0; i < 10; ++i) n_accepted += engine.submit(request(3, 900)) != 0 ? 1 : 0;
  EXPECT_GE(n_accepted, 2U);
  EXPECT_LE(n_accepted, 3U);  // one may have started meanwhile
}

TEST(Engine, DestructorEndsEverything) {
  HashExecutor executor(64);
  executor.slow = true;
  std::atomic<int> n_wakes{0};
  {
    Engine engine(executor, kAll, {}, [&] { ++n_wakes; });
    for (int i = 0; i < 5; ++i) EXPECT_NE(engine.submit(request(3, 900)), 0U);
    while (n_wakes == 0) std::this_thread::yield();
  }
  EXPECT_GE(n_wakes, 1);
}

}  // namespace
}  // namespace qwick
