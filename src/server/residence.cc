#include "server/residence.h"

#include <algorithm>
#include <utility>

#include "api/chat_request.h"
#include "api/errors.h"
#include "base/error.h"

namespace qwick {

using std::chrono::steady_clock;

GenerationRequest warm_up_request(const api::ChatService& service, const std::string& system_prompt) {
  if (service.context_length() < 2)
    fail(ErrorCode::kInvalidArgument,
         "a prompt and its answer need a context of 2 tokens or more; see --ctx");
  GenerationRequest made;
  if (system_prompt.empty()) {
    made.prompt = service.tokenizer().encode("Hello! How are you today?", SpecialText::kPlain);
    made.prompt.resize(std::min<size_t>(made.prompt.size(), service.context_length() - 1));
    made.use_cache = false;
  } else {
    api::ChatRequest request;
    request.messages.push_back({{"role", "system"}, {"content", system_prompt}});
    request.messages.push_back({{"role", "user"}, {"content", "Hello!"}});
    try {
      made = service.prepare(request, 0).generation;
    } catch (const api::ApiError& error) {
      fail(ErrorCode::kInvalidArgument, "--system-prompt-file: {}", error.what());
    }
  }
  made.sampling = {.temperature = 0};
  made.stop_ids.clear();
  const size_t n_left = service.context_length() - made.prompt.size();
  made.max_tokens = static_cast<uint32_t>(std::min<size_t>(n_left, 2));
  return made;
}

void Residence::start(Engine& engine, GenerationRequest warm_up, std::function<void()> on_warm) {
  engine_ = &engine;
  request_ = std::move(warm_up);
  on_warm_ = std::move(on_warm);
  id_ = engine_->submit(request_);
}

bool Residence::on_event(const TokenEvent& event) {
  last_work_ = steady_clock::now();
  if (event.request_id != id_) return false;
  if (!event.finish) return true;
  id_ = 0;
  if (is_warm_) {
    ++n_heartbeats_;
  } else if (event.finish != FinishReason::kCancelled) {
    is_warm_ = true;
    request_.max_tokens = 1;  // its step reads all that a decode reads
    on_warm_();
    if (heartbeat_.count() > 0) wait(heartbeat_);
  }
  return true;
}

void Residence::wait(steady_clock::duration delay) {
  http_.run_after(std::chrono::ceil<std::chrono::milliseconds>(delay), [this] { beat_if_idle(); });
}

void Residence::beat_if_idle() {
  if (is_stopped_) return;
  const EngineStats stats = engine_->stats();
  const auto now = steady_clock::now();
  if (stats.n_running + stats.n_waiting > 0) last_work_ = now;
  const auto idle = now - last_work_;
  if (idle >= heartbeat_) id_ = engine_->submit(request_);
  wait(idle >= heartbeat_ ? heartbeat_ : heartbeat_ - idle);
}

}  // namespace qwick
