#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "engine/logprobs.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"

namespace qwick {
namespace {

using std::chrono::steady_clock;

// Ids beyond the executor's vocabulary have no logits.
std::vector<bool> sampleable(std::vector<bool> may_sample, uint32_t vocab_size) {
  if (may_sample.size() > vocab_size) may_sample.resize(vocab_size);
  return may_sample;
}

}  // namespace

struct Engine::Impl {
  Impl(Executor& the_executor, const std::vector<bool>& may_sample, EngineOptions the_options,
       std::function<void()> the_wake)
      : executor(the_executor),
        options(the_options),
        wake(std::move(the_wake)),
        scheduler(the_executor.options().n_blocks,
                  {.max_running = std::min(the_options.max_running, the_executor.options().max_step_logits),
                   .max_step_logits = the_executor.options().max_step_logits,
                   .max_step_tokens = the_executor.options().max_step_tokens}),
        sampler(sampleable(may_sample, the_executor.vocab_size())),
        thread([this] { loop(); }) {}

  Executor& executor;
  const EngineOptions options;
  const std::function<void()> wake;

  mutable std::mutex mutex;  // guards what follows, up to the blank line
  std::condition_variable inbox_filled;
  std::vector<std::unique_ptr<Sequence>> submitted;
  std::vector<uint64_t> cancelled;
  std::vector<TokenEvent> outbox;
  EngineStats stats;
  uint64_t next_id = 1;
  bool stop = false;

  // The engine thread's own.
  Scheduler scheduler;
  Sampler sampler;
  StepBatch batch;
  std::vector<TokenEvent> events;  // of the current step
  uint64_t n_prompt_tokens = 0;    // of requests whose first token came in it
  uint64_t n_reused_tokens = 0;
  steady_clock::time_point step_end;
  uint64_t n_steps = 0;
  steady_clock::duration busy{};

  std::thread thread;

  void loop();
  bool take_inbox();
  void run_step();
  void score_prompt(Sequence& sequence, std::span<const float> rows);
  void accept(Sequence& sequence, std::span<const float> logits);
  void publish();
};

Engine::Engine(Executor& executor, const std::vector<bool>& may_sample, EngineOptions options,
               std::function<void()> wake)
    : impl_(std::make_unique<Impl>(executor, may_sample, options, std::move(wake))) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->inbox_filled.notify_one();
  impl_->thread.join();
}

uint64_t Engine::submit(GenerationRequest request) {
  QWICK_CHECK(!request.prompt.empty() && request.max_tokens > 0);
  // Each request fits the cache alone, or it would never end.
  const ExecutorOptions& limits = impl_->executor.options();
  const uint64_t n_tokens = request.prompt.size() + uint64_t{request.max_tokens};
  QWICK_CHECK(n_tokens <= limits.max_positions);
  QWICK_CHECK(n_tokens <= uint64_t{limits.n_blocks} * kCacheBlockTokens);
  uint64_t id = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->stop || impl_->stats.n_waiting >= impl_->options.max_queue) return 0;
    id = impl_->next_id++;
    impl_->submitted.push_back(std::make_unique<Sequence>(id, std::move(request)));
    ++impl_->stats.n_waiting;
  }
  impl_->inbox_filled.notify_one();
  return id;
}

void Engine::cancel(uint64_t request_id) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->cancelled.push_back(request_id);
  }
  impl_->inbox_filled.notify_one();
}

std::vector<TokenEvent> Engine::take_events() {
  const std::lock_guard lock(impl_->mutex);
  return std::exchange(impl_->outbox, {});
}

EngineStats Engine::stats() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->stats;
}

void Engine::Impl::loop() {
  while (take_inbox()) {
    if (!scheduler.empty()) run_step();
    publish();
  }
  publish();
}

// Waits for work when there is none. False: the engine stops, all requests are ended.
bool Engine::Impl::take_inbox() {
  std::unique_lock lock(mutex);
  inbox_filled.wait(
      lock, [this] { return stop || !submitted.empty() || !cancelled.empty() || !scheduler.empty(); });
  for (auto& sequence : submitted) scheduler.add(std::move(sequence));
  submitted.clear();
  for (const uint64_t id : cancelled) {
    if (scheduler.remove(id)) events.push_back({id, std::nullopt, FinishReason::kCancelled});
  }
  cancelled.clear();
  if (!stop) return true;
  for (const auto& sequence : scheduler.remove_all()) {
    events.push_back({sequence->id, std::nullopt, FinishReason::kCancelled});
  }
  return false;
}

void Engine::Impl::run_step() {
  const auto step_begin = steady_clock::now();
  scheduler.plan(batch);
  const std::span<Sequence* const> sequences = scheduler.sequences_in_step();
  for (Sequence* sequence : sequences) {
    if (sequence->started == steady_clock::time_point()) sequence->started = step_begin;
  }
  const std::span<const float> logits = executor.step(batch);
  step_end = steady_clock::now();
  ++n_steps;
  busy += step_end - step_begin;
  const size_t vocab_size = executor.vocab_size();
  size_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& sequence = *sequences[i];
    scheduler.note_computed(sequence, static_cast<uint32_t>(batch.chunks[i].tokens.size()));
    const size_t n_rows = batch.chunks[i].n_logits;
    const std::span<const float> rows = logits.subspan(row * vocab_size, n_rows * vocab_size);
    row += n_rows;
    if (sequence.n_unscored() > 0) score_prompt(sequence, rows);
    if (n_rows > 0 && sequence.n_left() == 0) accept(sequence, rows.last(vocab_size));
  }
}

// The rows belong to the last tokens computed; row by row they tell of the token after.
void Engine::Impl::score_prompt(Sequence& sequence, std::span<const float> rows) {
  const size_t vocab_size = executor.vocab_size();
  const size_t n_rows = rows.size() / vocab_size;
  TokenEvent event{sequence.id, std::nullopt, std::nullopt, sequence.n_reused};
  for (size_t i = 0; i < n_rows; ++i) {
    const size_t next = sequence.n_cached - n_rows + i + 1;
    // After a preemption some come again.
    if (next != sequence.n_scored + 1 || next >= sequence.request.prompt.size()) continue;
    event.prompt_logprobs.push_back(token_logprobs(rows.subspan(i * vocab_size, vocab_size),
                                                   sequence.tokens[next],
                                                   sequence.request.n_top_logprobs.value_or(0)));
    ++sequence.n_scored;
  }
  events.push_back(std::move(event));
}

void Engine::Impl::accept(Sequence& sequence, std::span<const float> logits) {
  const GenerationRequest& request = sequence.request;
  const int32_t token =
      sampler.sample(logits, request.sampling, sequence.seen, sequence.tokens.size(), sequence.banned());
  sequence.append(token);
  TokenEvent event{sequence.id, token, std::nullopt, sequence.n_reused, sequence.started, step_end};
  if (request.n_top_logprobs) event.logprobs = token_logprobs(logits, token, *request.n_top_logprobs);
  if (sequence.n_generated() == 1) {
    n_prompt_tokens += request.prompt.size();
    n_reused_tokens += sequence.n_reused;
  }
  if (std::find(request.stop_ids.begin(), request.stop_ids.end(), token) != request.stop_ids.end()) {
    event.finish = FinishReason::kStop;
  } else if (sequence.n_generated() == request.max_tokens) {
    event.finish = FinishReason::kLength;
  }
  const bool is_last = event.finish.has_value();
  events.push_back(std::move(event));
  if (is_last) scheduler.remove(sequence.id);
}

// Hands the step's events over; wakes the reader only when it may be asleep.
void Engine::Impl::publish() {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex);
    was_empty = outbox.empty();
    for (const TokenEvent& event : events) stats.n_generated_tokens += event.token ? 1 : 0;
    outbox.insert(outbox.end(), std::make_move_iterator(events.begin()),
                  std::make_move_iterator(events.end()));
    stats.n_running = static_cast<uint32_t>(scheduler.n_running());
    stats.n_waiting = static_cast<uint32_t>(scheduler.n_waiting() + submitted.size());
    stats.n_prompt_tokens += n_prompt_tokens;
    stats.n_reused_tokens += n_reused_tokens;
    stats.n_preemptions = scheduler.n_preemptions();
    stats.n_blocks = scheduler.blocks().n_blocks();
    stats.n_blocks_in_use = scheduler.blocks().n_in_use();
    stats.n_steps = n_steps;
    stats.busy_seconds = std::chrono::duration<double>(busy).count();
  }
  const bool filled = was_empty && !events.empty();
  events.clear();
  n_prompt_tokens = n_reused_tokens = 0;
  if (filled && wake) wake();
}

}  // namespace qwick
