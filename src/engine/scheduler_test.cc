// The scheduler without an engine's thread: what it puts into steps, and that no block is ever lost,
// given back twice or written by two.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/test_engine.h"

namespace qwick {
namespace {

using testing::hash_request;
using testing::HashExecutor;
using testing::TokenCache;

// Scheduler and cache, step by step on the test's own thread.
struct Stepper {
  Stepper(uint32_t n_blocks, SchedulerOptions options) : scheduler(n_blocks, options), cache(n_blocks) {}

  Sequence& add(uint64_t id, GenerationRequest request) {
    auto made = std::make_unique<Sequence>(id, std::move(request));
    Sequence& sequence = *made;
    live[id] = &sequence;
    scheduler.add(std::move(made));
    return sequence;
  }

  void remove(uint64_t id) {
    const std::unique_ptr<Sequence> removed = scheduler.remove(id);
    EXPECT_EQ(removed.get(), live.at(id));
    live.erase(id);
  }

  // Tokens of each sequence in the step, by id; finished sequences are removed.
  std::map<uint64_t, uint32_t> step() {
    scheduler.plan(batch);
    cache.copy(batch.copies);
    std::map<uint64_t, uint32_t> n_tokens;
    std::vector<uint64_t> finished;
    for (size_t i = 0; i < batch.chunks.size(); ++i) {
      const SequenceChunk& chunk = batch.chunks[i];
      Sequence& sequence = *scheduler.sequences_in_step()[i];
      const std::span<const int32_t> in_cache = cache.write(chunk);
      EXPECT_TRUE(std::equal(in_cache.begin(), in_cache.end(), sequence.tokens.begin()));
      EXPECT_TRUE(n_tokens.emplace(sequence.id, chunk.tokens.size()).second);
      scheduler.note_computed(sequence, static_cast<uint32_t>(chunk.tokens.size()));
      EXPECT_EQ(chunk.n_logits == 1, sequence.n_left() == 0);
      if (chunk.n_logits == 0) continue;
      sequence.append(HashExecutor::token_after(in_cache));
      if (sequence.n_generated() == sequence.request.max_tokens) finished.push_back(sequence.id);
    }
    for (const uint64_t id : finished) remove(id);
    return n_tokens;
  }

  // Every block has as many users as there are sequences with it in their table.
  void check_blocks() const {
    const BlockManager& blocks = scheduler.blocks();
    std::vector<uint32_t> n_users(blocks.n_blocks());
    for (const auto& [id, sequence] : live) {
      for (const int32_t block : sequence->blocks) ++n_users[static_cast<size_t>(block)];
    }
    uint32_t n_in_use = 0;
    for (uint32_t block = 0; block < blocks.n_blocks(); ++block) {
      ASSERT_EQ(blocks.n_users(static_cast<int32_t>(block)), n_users[block]) << "block " << block;
      n_in_use += n_users[block] > 0 ? 1 : 0;
    }
    ASSERT_EQ(blocks.n_in_use(), n_in_use);
  }

  Scheduler scheduler;
  TokenCache cache;
  StepBatch batch;
  std::map<uint64_t, Sequence*> live;  // the scheduler's own
};

using Step = std::map<uint64_t, uint32_t>;

TEST(Scheduler, PromptsAreReadInSmallChunksBesideAnswers) {
  Stepper stepper(100, {.max_running = 8,
                        .max_step_tokens = 256,
                        .max_prompt_tokens_beside_answers = 32,
                        .depth_of_double_cost = 1'000'000});
  for (const uint64_t id : {1, 2}) stepper.add(id, hash_request(100, 12, static_cast<int32_t>(id)));
  // None answers: the whole budget.
  EXPECT_EQ(stepper.step(), (Step{{1, 100}, {2, 100}}));
  stepper.add(3, hash_request(300, 5, 3));
  stepper.add(4, hash_request(10, 5, 4));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, 1}, {3, 32}}));
  EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, 1}, {3, 12}, {4, 10}}));  // 32 of them together
  EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  stepper.remove(3);
  stepper.remove(4);
  EXPECT_TRUE(stepper.live.empty());
  stepper.add(5, hash_request(300, 5, 5));
  EXPECT_EQ(stepper.step(), (Step{{5, 256}}));
  stepper.check_blocks();
}

TEST(Scheduler, DeepInAPromptTokensCostMore) {
  Stepper stepper(100, {.max_running = 8,
                        .max_step_tokens = 256,
                        .max_prompt_tokens_beside_answers = 32,
                        .depth_of_double_cost = 64});
  stepper.add(1, hash_request(5, 60, 1));
  stepper.step();
  stepper.add(2, hash_request(150, 5, 2));
  // 32, then 32 / (1 + 32 / 64), then 32 / (1 + 53 / 64) ...
  for (const uint32_t n : {32U, 21U, 17U, 15U, 13U, 12U, 11U})
    EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, n}}));
  // What a deep prompt takes is not there for another.
  stepper.add(3, hash_request(90, 5, 3));
  EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, 11}, {3, 1}}));
}

TEST(Scheduler, PromptsGetOnlyWhatAnswersLeaveOfAStep) {
  Stepper stepper(100, {.max_running = 8, .max_step_tokens = 3, .max_prompt_tokens_beside_answers = 32});
  for (const uint64_t id : {1, 2}) stepper.add(id, hash_request(1, 12, static_cast<int32_t>(id)));
  stepper.step();
  stepper.add(3, hash_request(9, 1, 3));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(stepper.step(), (Step{{1, 1}, {2, 1}, {3, 1}}));
}

TEST(Scheduler, SharedBlocksNeedNoPlaceTwice) {
  // Six of ten blocks are the common beginning; the first has a seventh, the rest is for two more.
  Stepper stepper(10, {.max_running = 8, .max_step_tokens = 256, .max_prompt_tokens_beside_answers = 32});
  stepper.add(1, hash_request(193, 5));
  stepper.step();
  for (const uint64_t id : {2, 3, 4, 5}) stepper.add(id, hash_request(193, 5));
  stepper.step();
  EXPECT_EQ(stepper.scheduler.n_running(), 3U);
  EXPECT_EQ(stepper.scheduler.n_waiting(), 2U);
  stepper.check_blocks();
}

TEST(Scheduler, APlaceIsNotPromisedTwice) {
  // Each fits beside the first while nothing of that one's prompt is read, not after.
  Stepper stepper(16, {.max_running = 8, .max_step_tokens = 32, .max_prompt_tokens_beside_answers = 32});
  for (const uint64_t id : {1, 2}) stepper.add(id, hash_request(300, 30, static_cast<int32_t>(id)));
  while (!stepper.live.empty()) stepper.step();
  EXPECT_EQ(stepper.scheduler.n_preemptions(), 0U);
}

TEST(Scheduler, WhatIsInAStepKeepsItsBlocks) {
  // A long prompt, and a younger answer beside it at once, since its own prompt is in the cache.
  Stepper stepper(12, {.max_running = 8,
                       .max_step_tokens = 32,
                       .max_prompt_tokens_beside_answers = 3,
                       .depth_of_double_cost = 1'000'000});
  stepper.add(1, hash_request(33, 2));
  while (!stepper.live.empty()) stepper.step();
  stepper.add(2, hash_request(300, 3, 50));
  stepper.step();
  stepper.add(3, hash_request(33, 200));
  size_t n_held_up = 0;
  while (!stepper.live.empty()) {
    const Step done = stepper.step();
    stepper.check_blocks();
    ASSERT_FALSE(done.empty());
    // The prompt gets no block while the answer is in the step, until that one runs out itself.
    if (stepper.live.contains(2) && !done.contains(2)) ++n_held_up;
  }
  EXPECT_GT(n_held_up, 0U);
  EXPECT_EQ(stepper.scheduler.n_preemptions(), 1U);
}

TEST(Scheduler, LosesNoBlock) {
  std::mt19937 random(3);
  const auto from_one_to = [&](size_t n) { return static_cast<uint32_t>(1 + random() % n); };
  uint64_t next_id = 1;
  size_t n_steps = 0;
  uint64_t n_preemptions = 0;
  uint64_t n_reused = 0;
  for (const uint32_t n_blocks : {6, 9, 17, 40}) {
    Stepper stepper(n_blocks, {.max_running = from_one_to(8),
                               .max_step_tokens = from_one_to(70),
                               .max_prompt_tokens_beside_answers = from_one_to(40)});
    const auto add = [&] {
      const uint32_t room = n_blocks * kCacheBlockTokens;
      uint32_t prompt = from_one_to(room / 3);
      if (random() % 2 == 0)
        prompt -= (prompt - 1) % kCacheBlockTokens;  // all but one token of it may be cached
      GenerationRequest made =
          hash_request(prompt, from_one_to(room - prompt), static_cast<int32_t>(random() % 3));
      made.use_cache = random() % 4 != 0;
      stepper.add(next_id++, std::move(made));
    };
    const auto step = [&] {
      const Step done = stepper.step();
      ASSERT_FALSE(done.empty());
      for (const auto& [id, sequence] : stepper.live) n_reused += sequence->n_reused;
      ++n_steps;
      stepper.check_blocks();
    };
    for (int i = 0; i < 1500; ++i) {
      if (stepper.live.empty() || (stepper.live.size() < 12 && random() % 8 == 0)) add();
      if (random() % 25 == 0) {
        auto victim = stepper.live.begin();
        std::advance(victim, random() % stepper.live.size());
        stepper.remove(victim->first);
        stepper.check_blocks();
        continue;
      }
      step();
    }
    while (!stepper.live.empty()) step();
    EXPECT_TRUE(stepper.scheduler.empty());
    EXPECT_EQ(stepper.scheduler.blocks().n_in_use(), 0U);
    n_preemptions += stepper.scheduler.n_preemptions();
  }
  EXPECT_GT(n_preemptions, 0U);
  EXPECT_GT(n_reused, 0U);
  std::printf("%zu steps, %lu preemptions\n", n_steps, n_preemptions);
}

}  // namespace
}  // namespace qwick
