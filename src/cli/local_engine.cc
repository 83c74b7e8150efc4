#include "cli/local_engine.h"

#include <utility>

#include "base/error.h"
#include "cli/input.h"

namespace qwick::cli {

LocalEngine::LocalEngine(const ReadyModel& loaded, const Options& options, uint32_t max_batch)
    : backend_(loaded, options, max_batch),
      engine_(std::make_unique<Engine>(backend_.executor(), sampleable_ids(loaded.tokenizer),
                                       EngineOptions{.max_running = max_batch}, [this] {
                                         const std::lock_guard lock(mutex_);
                                         has_events_ = true;
                                         filled_.notify_one();
                                       })) {}

Outcome LocalEngine::run(GenerationRequest request, const std::function<bool(int32_t)>& on_token) {
  if (request.prompt.size() + request.max_tokens > max_positions()) {
    fail(ErrorCode::kInvalidArgument,
         "{} prompt tokens and {} to generate are more than the context of {}; see --ctx",
         request.prompt.size(), request.max_tokens, max_positions());
  }
  const uint64_t id = engine_->submit(std::move(request));
  bool is_wanted = true;
  while (true) {
    for (const TokenEvent& event : wait_events()) {
      const bool is_text = event.token && event.finish != FinishReason::kStop;
      if (is_text && is_wanted && !on_token(*event.token)) {
        is_wanted = false;
        engine_->cancel(id);
      }
      if (event.finish) return {*event.finish, is_text ? std::nullopt : event.token};
    }
  }
}

std::vector<TokenEvent> LocalEngine::wait_events() {
  {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return has_events_; });
    has_events_ = false;
  }
  return engine_->take_events();
}

}  // namespace qwick::cli
