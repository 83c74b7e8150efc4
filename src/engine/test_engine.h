// What the engine's tests share: a made-up model whose next token is a function of all tokens before it,
// so that any mistake in batching, chunking or caching changes the answer; and an engine's answers
// collected. Tests only.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <thread>
#include <vector>

#include "base/check.h"
#include "engine/engine.h"
#include "exec/executor.h"

namespace qwick::testing {

// A cache that holds the tokens themselves, to be read back through the block tables.
class TokenCache {
 public:
  explicit TokenCache(uint32_t n_blocks) : memory_(size_t{n_blocks} * kCacheBlockTokens, -1) {}

  void copy(std::span<const BlockCopy> copies) {
    for (const BlockCopy& copy : copies) {
      const auto at = [&](int32_t block) {
        return memory_.begin() + std::ptrdiff_t{block} * kCacheBlockTokens;
      };
      std::copy_n(at(copy.from), kCacheBlockTokens, at(copy.to));
    }
  }

  // Writes a chunk's tokens; returns all tokens up to its end as the cache has them.
  std::span<const int32_t> write(const SequenceChunk& chunk) {
    const auto at = [&](size_t position) -> int32_t& {
      QWICK_CHECK(position / kCacheBlockTokens < chunk.blocks.size());
      return memory_[static_cast<size_t>(chunk.blocks[position / kCacheBlockTokens]) * kCacheBlockTokens +
                     position % kCacheBlockTokens];
    };
    for (size_t i = 0; i < chunk.tokens.size(); ++i) at(chunk.position + i) = chunk.tokens[i];
    read_.clear();
    for (size_t i = 0; i < chunk.position + chunk.tokens.size(); ++i) read_.push_back(at(i));
    return read_;
  }

 private:
  std::vector<int32_t> memory_;  // [n_blocks, kCacheBlockTokens]
  std::vector<int32_t> read_;
};

class HashExecutor : public Executor {
 public:
  static constexpr uint32_t kVocab = 101;

  explicit HashExecutor(uint32_t n_blocks, uint32_t max_step_tokens = 16) : cache_(n_blocks) {
    options_.n_blocks = n_blocks;
    options_.max_positions = 1000;
    options_.max_step_tokens = max_step_tokens;
    options_.max_step_logits = 16;
  }

  const ExecutorOptions& options() const override { return options_; }
  uint32_t vocab_size() const override { return kVocab; }

  std::span<const float> step(const StepBatch& batch) noexcept override {
    while (hold) std::this_thread::yield();
    logits_.clear();
    cache_.copy(batch.copies);
    uint32_t n_tokens = 0;
    for (const SequenceChunk& chunk : batch.chunks) {
      const std::span<const int32_t> tokens = cache_.write(chunk);
      n_tokens += static_cast<uint32_t>(chunk.tokens.size());
      for (uint32_t left = chunk.n_logits; left > 0; --left) {
        logits_.resize(logits_.size() + kVocab);
        const auto next = static_cast<size_t>(token_after(tokens.first(tokens.size() - left + 1)));
        logits_[logits_.size() - kVocab + next] = 1;
      }
    }
    QWICK_CHECK(n_tokens <= options_.max_step_tokens && n_tokens > 0);
    QWICK_CHECK(logits_.size() <= size_t{options_.max_step_logits} * kVocab);
    n_computed += n_tokens;
    largest_batch = std::max(largest_batch.load(), static_cast<uint32_t>(batch.chunks.size()));
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return logits_;
  }

  static int32_t token_after(std::span<const int32_t> tokens) {
    uint64_t hash = 0;
    for (const int32_t token : tokens) hash = (hash ^ static_cast<uint64_t>(token)) * 1099511628211ULL + 1;
    return static_cast<int32_t>(hash % kVocab);
  }

  std::atomic<uint64_t> n_computed{0};  // tokens
  std::atomic<uint32_t> largest_batch{0};
  std::atomic<bool> slow{false};
  std::atomic<bool> hold{false};

 private:
  ExecutorOptions options_;
  TokenCache cache_;
  std::vector<float> logits_;
};

// A greedy one for the model above.
inline GenerationRequest hash_request(size_t prompt_length, uint32_t max_tokens, int32_t first = 1) {
  GenerationRequest made;
  for (size_t i = 0; i < prompt_length; ++i)
    made.prompt.push_back((first + static_cast<int32_t>(i) * 7) % static_cast<int32_t>(HashExecutor::kVocab));
  made.max_tokens = max_tokens;
  made.sampling.temperature = 0;
  return made;
}

// Its answer, without an engine.
inline std::vector<int32_t> hash_answer(const GenerationRequest& asked) {
  std::vector<int32_t> tokens = asked.prompt;
  for (uint32_t i = 0; i < asked.max_tokens; ++i) tokens.push_back(HashExecutor::token_after(tokens));
  return {tokens.begin() + static_cast<std::ptrdiff_t>(asked.prompt.size()), tokens.end()};
}

struct Answer {
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kCancelled;
  uint32_t n_finishes = 0;
  uint32_t n_reused = 0;
  std::vector<TokenLogprobs> logprobs;
  std::vector<TokenLogprobs> prompt_logprobs;
};

// Collects events until n requests have ended.
inline std::map<uint64_t, Answer> collect(Engine& engine, size_t n) {
  std::map<uint64_t, Answer> answers;
  for (size_t n_finished = 0; n_finished < n;) {
    for (const TokenEvent& event : engine.take_events()) {
      Answer& answer = answers[event.request_id];
      if (event.token) answer.tokens.push_back(*event.token);
      answer.n_reused = std::max(answer.n_reused, event.n_reused);
      if (event.logprobs) answer.logprobs.push_back(*event.logprobs);
      answer.prompt_logprobs.insert(answer.prompt_logprobs.end(), event.prompt_logprobs.begin(),
                                    event.prompt_logprobs.end());
      if (event.finish) {
        answer.finish = *event.finish;
        ++answer.n_finishes;
        ++n_finished;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return answers;
}

}  // namespace qwick::testing
