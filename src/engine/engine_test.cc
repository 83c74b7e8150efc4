// The engine over the made-up model of test_engine.h.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>

#include "engine/test_engine.h"

namespace qwick {
namespace {

using testing::Answer;
using testing::collect;
using testing::hash_answer;
using testing::hash_request;
using testing::HashExecutor;

const std::vector<bool> kAll(HashExecutor::kVocab, true);

TEST(Engine, ManyRequestsEachGetTheirOwnAnswer) {
  HashExecutor executor(400);
  executor.hold = true;
  Engine engine(executor, kAll, {.max_queue = 100, .max_running = 4}, nullptr);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 40; ++i) {
    GenerationRequest made =
        hash_request(1 + static_cast<size_t>(i) * 5, 1 + static_cast<uint32_t>(i) % 13, i);
    asked[engine.submit(made)] = made;
  }
  executor.hold = false;
  const auto answers = collect(engine, asked.size());
  for (const auto& [id, made] : asked) {
    EXPECT_EQ(answers.at(id).tokens, hash_answer(made));
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
    EXPECT_EQ(collect(engine, 1).at(id).tokens, hash_answer(asked));
    return executor.n_computed - before;
  };
  GenerationRequest first = hash_request(200, 20);
  EXPECT_EQ(run(first), 219U);
  EXPECT_EQ(run(first), 219U - 199);  // six full blocks of the prompt, and what the seventh begins with
  // The next turn of the conversation: the answer is in the cache too.
  GenerationRequest second = first;
  for (const int32_t token : hash_answer(first)) second.prompt.push_back(token);
  second.prompt.push_back(5);
  EXPECT_EQ(run(second), 221U + 19 - 219);  // the last token of the answer was never computed
  EXPECT_EQ(engine.stats().n_reused_tokens, 199U + 219);
  // A prompt of whole blocks leaves its last token to compute.
  GenerationRequest whole = first;
  whole.prompt.resize(192);
  EXPECT_EQ(run(whole), 192U + 19 - 191);
  // Neither reads nor leaves anything.
  first.use_cache = false;
  EXPECT_EQ(run(first), 219U);
  GenerationRequest other = hash_request(200, 1, 50);
  other.use_cache = false;
  EXPECT_EQ(run(other), 200U);
  EXPECT_EQ(run(other), 200U);
}

TEST(Engine, ABlockIsCopiedUpToWhereTwoPromptsPart) {
  HashExecutor executor(100);
  Engine engine(executor, kAll, {}, nullptr);
  const auto n_reused = [&](const GenerationRequest& asked) {
    const uint64_t id = engine.submit(asked);
    const Answer answer = collect(engine, 1).at(id);
    EXPECT_EQ(answer.tokens, hash_answer(asked));
    return answer.n_reused;
  };
  GenerationRequest made = hash_request(13, 10);
  EXPECT_EQ(n_reused(made), 0U);
  EXPECT_EQ(n_reused(made), 12U);
  made.prompt[9] = 100;
  EXPECT_EQ(n_reused(made), 9U);
  made.prompt[3] = 100;  // not worth a copy
  EXPECT_EQ(n_reused(made), 0U);
  // Of a full block as well, and beside what was taken over.
  EXPECT_EQ(n_reused(hash_request(70, 1, 5)), 0U);
  made = hash_request(70, 1, 5);
  made.prompt[60] = 100;
  EXPECT_EQ(n_reused(made), 60U);
  made.use_cache = false;
  EXPECT_EQ(n_reused(made), 0U);
}

TEST(Engine, PromptsThatBeginAlikeAreReadOnce) {
  HashExecutor executor(200, 64);
  executor.hold = true;
  Engine engine(executor, kAll, {.max_running = 8}, nullptr);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 8; ++i) {
    GenerationRequest made = hash_request(200, 1);
    made.prompt.push_back(i);
    asked[engine.submit(made)] = made;
  }
  executor.hold = false;
  const auto answers = collect(engine, asked.size());
  for (const auto& [id, made] : asked) EXPECT_EQ(answers.at(id).tokens, hash_answer(made));
  EXPECT_EQ(executor.n_computed, 201U + 7 * (201 - 192));
  EXPECT_EQ(engine.stats().n_reused_tokens, 7U * 192);
}

TEST(Engine, SpacesOfTheCacheShareNothing) {
  HashExecutor executor(100);
  Engine engine(executor, kAll, {}, nullptr);
  GenerationRequest made = hash_request(100, 1);
  const auto n_reused = [&](uint64_t space) {
    made.cache_space = space;
    const uint64_t id = engine.submit(made);
    return collect(engine, 1).at(id).n_reused;
  };
  EXPECT_EQ(n_reused(0), 0U);
  EXPECT_EQ(n_reused(7), 0U);
  EXPECT_EQ(n_reused(8), 0U);
  EXPECT_EQ(n_reused(7), 96U);
  EXPECT_EQ(n_reused(0), 96U);
}

TEST(Engine, LogprobsOfPromptAndAnswer) {
  HashExecutor executor(20);  // too few for all: some are read twice
  Engine engine(executor, kAll, {.max_running = 6}, nullptr);
  // The fake model gives the next token the logit 1, all others 0.
  const double others = std::log(std::exp(1.0) + HashExecutor::kVocab - 1);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 10; ++i) {
    GenerationRequest made = hash_request(60 + static_cast<size_t>(i), 60, i % 3);
    made.n_top_logprobs = 2;
    made.prompt_logprobs = i % 2 == 0;
    asked[engine.submit(made)] = made;
  }
  const auto answers = collect(engine, asked.size());
  EXPECT_GT(engine.stats().n_preemptions, 0U);
  for (const auto& [id, made] : asked) {
    const Answer& answer = answers.at(id);
    EXPECT_EQ(answer.tokens, hash_answer(made));
    ASSERT_EQ(answer.logprobs.size(), answer.tokens.size());
    ASSERT_EQ(answer.prompt_logprobs.size(), made.prompt_logprobs ? made.prompt.size() - 1 : 0);
    for (size_t i = 0; i < answer.prompt_logprobs.size(); ++i) {
      const TokenLogprobs& logprobs = answer.prompt_logprobs[i];
      const int32_t likely = HashExecutor::token_after(std::span(made.prompt).first(i + 1));
      EXPECT_EQ(logprobs.token.id, made.prompt[i + 1]);
      EXPECT_NEAR(logprobs.token.logprob, (made.prompt[i + 1] == likely ? 1 : 0) - others, 1e-5);
      EXPECT_EQ(logprobs.top.at(0).id, likely);
      EXPECT_EQ(logprobs.top.at(1).id, likely == 0 ? 1 : 0);
    }
    for (size_t i = 0; i < answer.logprobs.size(); ++i) {
      EXPECT_EQ(answer.logprobs[i].token.id, answer.tokens[i]);
      EXPECT_NEAR(answer.logprobs[i].token.logprob, 1 - others, 1e-5);
    }
  }
}

TEST(Engine, NoStopIdBeforeMinTokens) {
  HashExecutor executor(32);
  Engine engine(executor, kAll, {}, nullptr);
  GenerationRequest made = hash_request(5, 10);
  made.stop_ids = {hash_answer(made)[0]};
  made.min_tokens = 4;
  const uint64_t id = engine.submit(made);
  const Answer answer = collect(engine, 1).at(id);
  ASSERT_GE(answer.tokens.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_NE(answer.tokens[i], made.stop_ids[0]);
}

TEST(Engine, PreemptionLosesNothing) {
  HashExecutor executor(12);  // 384 tokens for 6 sequences that grow to 190 each
  Engine engine(executor, kAll, {.max_queue = 100, .max_running = 6}, nullptr);
  std::map<uint64_t, GenerationRequest> asked;
  for (int i = 0; i < 12; ++i) {
    GenerationRequest made = hash_request(30 + static_cast<size_t>(i), 150, i);
    made.use_cache = i % 3 != 0;
    asked[engine.submit(made)] = made;
  }
  const auto answers = collect(engine, asked.size());
  for (const auto& [id, made] : asked) EXPECT_EQ(answers.at(id).tokens, hash_answer(made));
  EXPECT_GT(engine.stats().n_preemptions, 0U);
  EXPECT_EQ(engine.stats().n_blocks_in_use, 0U);
}

TEST(Engine, StopIdEndsTheAnswer) {
  HashExecutor executor(32);
  Engine engine(executor, kAll, {}, nullptr);
  GenerationRequest made = hash_request(5, 10);
  const std::vector<int32_t> full = hash_answer(made);
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
  const uint64_t running = engine.submit(hash_request(3, 900));
  const uint64_t waiting = engine.submit(hash_request(3, 900));
  const uint64_t last = engine.submit(hash_request(3, 2));
  engine.cancel(waiting);
  engine.cancel(running);
  engine.cancel(12345);  // unknown: nothing happens
  const auto answers = collect(engine, 3);
  EXPECT_EQ(answers.at(running).finish, FinishReason::kCancelled);
  EXPECT_EQ(answers.at(waiting).finish, FinishReason::kCancelled);
  EXPECT_EQ(answers.at(last).tokens, hash_answer(hash_request(3, 2)));
}

TEST(Engine, FullQueueRefuses) {
  HashExecutor executor(32);
  executor.slow = true;
  Engine engine(executor, kAll, {.max_queue = 2, .max_running = 1}, nullptr);
  size_t n_accepted = 0;
  for (int i = 0; i < 10; ++i) n_accepted += engine.submit(hash_request(3, 900)) != 0 ? 1 : 0;
  EXPECT_GE(n_accepted, 2U);
  EXPECT_LE(n_accepted, 3U);  // one may have started meanwhile
}

TEST(Engine, EveryRequestEndsOnceWhateverIsCancelled) {
  HashExecutor executor(40);
  Engine engine(executor, kAll, {.max_queue = 1000, .max_running = 7}, nullptr);
  std::mt19937 random(5);
  std::map<uint64_t, GenerationRequest> asked;
  std::vector<uint64_t> ids;
  std::map<uint64_t, bool> cancelled;
  for (int i = 0; i < 400; ++i) {
    GenerationRequest made = hash_request(1 + random() % 300, 1 + static_cast<uint32_t>(random()) % 100,
                                          static_cast<int32_t>(random() % 3));
    made.use_cache = random() % 4 != 0;
    const uint64_t id = engine.submit(made);
    asked[id] = made;
    ids.push_back(id);
    if (random() % 3 != 0) continue;
    const uint64_t victim = ids[ids.size() - 1 - random() % std::min<size_t>(ids.size(), 30)];
    engine.cancel(victim);
    cancelled[victim] = true;
    if (random() % 4 == 0) engine.cancel(victim);
    if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  const auto answers = collect(engine, asked.size());
  EXPECT_EQ(answers.size(), asked.size());
  for (const auto& [id, made] : asked) {
    const Answer& answer = answers.at(id);
    std::vector<int32_t> wanted = hash_answer(made);
    EXPECT_EQ(answer.n_finishes, 1U);
    EXPECT_EQ(answer.finish == FinishReason::kLength, answer.tokens.size() == wanted.size());
    EXPECT_TRUE(cancelled[id] || answer.finish == FinishReason::kLength);
    wanted.resize(answer.tokens.size());
    EXPECT_EQ(answer.tokens, wanted);
  }
  EXPECT_TRUE(engine.take_events().empty());
  EXPECT_EQ(engine.stats().n_blocks_in_use, 0U);
  EXPECT_EQ(engine.stats().n_running + engine.stats().n_waiting, 0U);
}

TEST(Engine, TellsWhenARequestStartedAndWhenEachTokenCame) {
  HashExecutor executor(64);
  executor.slow = true;  // a millisecond a step
  const auto before = std::chrono::steady_clock::now();
  Engine engine(executor, kAll, {.max_running = 1}, nullptr);
  const uint64_t first = engine.submit(hash_request(40, 5));
  const uint64_t second = engine.submit(hash_request(3, 2, 9));
  std::map<uint64_t, std::vector<TokenEvent>> events;
  while (events[second].size() < 2) {
    for (const TokenEvent& event : engine.take_events()) events[event.request_id].push_back(event);
  }
  auto last = before;
  for (const TokenEvent& event : events[first]) {
    EXPECT_EQ(event.started, events[first].front().started);
    EXPECT_GE(event.at, last + std::chrono::milliseconds(1));
    last = event.at;
  }
  EXPECT_GE(events[first].front().started, before);
  EXPECT_GE(events[first].front().at,
            events[first].front().started + std::chrono::milliseconds(3));  // 16+16+8
  EXPECT_GE(events[second].front().started, last);                          // it had to wait
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.n_steps, 3U + 4 + 2);
  EXPECT_GE(stats.busy_seconds, 0.009);
  EXPECT_LE(stats.busy_seconds,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
}

TEST(Engine, DestructorEndsEverything) {
  HashExecutor executor(64);
  executor.slow = true;
  std::atomic<int> n_wakes{0};
  {
    Engine engine(executor, kAll, {}, [&] { ++n_wakes; });
    for (int i = 0; i < 5; ++i) EXPECT_NE(engine.submit(hash_request(3, 900)), 0U);
    while (n_wakes == 0) std::this_thread::yield();
  }
  EXPECT_GE(n_wakes, 1);
}

}  // namespace
}  // namespace qwick
