// The engine: owns the sequences that run, batches them into steps, samples. It lives on its own
// thread and meets the rest at an inbox (submit, cancel) and an outbox (take_events).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/request.h"
#include "exec/executor.h"

namespace qwick {

struct EngineOptions {
  uint32_t max_queue = 256;   // requests waiting; more are refused
  uint32_t max_running = 16;  // requests at work at once
};

struct EngineStats {
  uint32_t n_running = 0;
  uint32_t n_waiting = 0;
  uint64_t n_prompt_tokens = 0;
  uint64_t n_generated_tokens = 0;
  uint64_t n_reused_tokens = 0;  // of prompts, from the prefix cache
  uint64_t n_preemptions = 0;
  uint32_t n_blocks = 0;  // of the cache
  uint32_t n_blocks_in_use = 0;
  uint64_t n_steps = 0;     // ended
  double busy_seconds = 0;  // spent in them
};

class Engine {
 public:
  // `wake` is called on the engine thread when the outbox turns from empty to filled; it must only
  // pass the word on (for the server: post to the I/O thread) and not call back into the engine.
  // `may_sample[id]` false: never sampled (unused ids, padding). Ids beyond its end count as false.
  Engine(Executor& executor, const std::vector<bool>& may_sample, EngineOptions options,
         std::function<void()> wake);
  ~Engine();  // cancels what runs, joins the thread

  // Any thread. Returns the request's id, or 0 when the queue is full or the engine is stopping.
  uint64_t submit(GenerationRequest request);
  // Any thread. Takes effect between two steps; the request ends with kCancelled unless it ended before.
  void cancel(uint64_t request_id);
  // Any thread: moves all events out, oldest first.
  std::vector<TokenEvent> take_events();
  EngineStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
