#include "server/chat_call.h"

#include <utility>

#include "server/routes.h"

namespace qwick {
namespace {

// With more than this on its way to the client, text is held and sent in one piece later.
constexpr size_t kMaxUnsentBytes = 64 << 10;

}  // namespace

ChatCall::ChatCall(std::shared_ptr<HttpExchange> exchange, api::Answer answer, api::AnswerHeader header,
                   bool stream, bool include_usage)
    : exchange_(std::move(exchange)),
      answer_(std::move(answer)),
      header_(std::move(header)),
      chunks_(header_, include_usage),
      stream_(stream) {}

void ChatCall::start() {
  if (!stream_) return;
  exchange_->start_stream({200, "", "text/event-stream", {{"Cache-Control", "no-cache"}}});
  send_event(chunks_.start());
}

void ChatCall::on_event(const TokenEvent& event) {
  if (done_ || answer_.ended()) return;
  // The id that stops an answer is no part of it; finish() counts it.
  if (event.token && event.finish != FinishReason::kStop) held_ += answer_.push(*event.token);
  if (event.finish == FinishReason::kCancelled) {
    fail({503, "the server is shutting down"});  // nobody else cancels a call that still waits
  } else if (event.finish) {
    held_ += answer_.finish(*event.finish);
  }
}

void ChatCall::flush() {
  if (done_) return;
  if (!stream_) {
    if (answer_.ended()) respond_whole();
    return;
  }
  if (exchange_->unsent_bytes() > kMaxUnsentBytes) return;
  if (!held_.empty()) send_event(chunks_.delta(std::exchange(held_, {})));
  if (answer_.ended()) finish_stream();
}

void ChatCall::respond_whole() {
  done_ = true;
  exchange_->respond({200, api::chat_completion(header_, held_, answer_.finish_reason(), answer_.usage())});
}

void ChatCall::finish_stream() {
  done_ = true;
  send_event(chunks_.finish(answer_.finish_reason()));
  if (chunks_.include_usage()) send_event(chunks_.usage(answer_.usage()));
  send_event("[DONE]");
  exchange_->finish();
}

void ChatCall::fail(const api::ApiError& error) {
  if (done_) return;
  done_ = true;
  if (!stream_) {
    exchange_->respond(error_response(error));
    return;
  }
  send_event(api::error_body(error));
  send_event("[DONE]");
  exchange_->finish();
}

void ChatCall::send_event(std::string_view json) {
  exchange_->write(fmt::format("data: {}\n\n", json));
}

}  // namespace qwick
