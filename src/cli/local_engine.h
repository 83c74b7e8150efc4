// An engine for a command that waits for its answers: generate, chat, bench.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/backend.h"
#include "cli/options.h"
#include "engine/engine.h"
#include "hub/loaded_model.h"

namespace qwick::cli {

struct Outcome {
  FinishReason finish = FinishReason::kCancelled;
  std::optional<int32_t> stop_id;  // the end-of-answer id, with kStop
};

class LocalEngine {
 public:
  // max_batch: requests at work at once.
  LocalEngine(const ReadyModel& loaded, const Options& options, uint32_t max_batch = 1);

  // Calls on_token for every token of the answer as it comes; false from it cancels the request.
  // Throws Error when prompt and max_tokens don't fit the context.
  Outcome run(GenerationRequest request, const std::function<bool(int32_t)>& on_token);

  Engine& engine() { return *engine_; }
  Backend& backend() { return backend_; }
  std::vector<TokenEvent> wait_events();  // one or more

  uint32_t max_positions() { return backend_.executor().options().max_positions; }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  bool has_events_ = false;
  Backend backend_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace qwick::cli
