#include "server/generation_call.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "server/routes.h"

namespace qwick {
namespace {

// With more than this on its way to the client, text is held and sent in one piece later.
constexpr size_t kMaxUnsentBytes = 64 << 10;

}  // namespace

GenerationCall::GenerationCall(std::shared_ptr<HttpExchange> exchange,
                               std::unique_ptr<api::ResponseWriter> writer, Options options)
    : exchange_(std::move(exchange)), writer_(std::move(writer)), options_(options) {}

void GenerationCall::add(uint64_t id, api::Answer answer, std::string echo,
                         std::optional<int32_t> first_prompt_id) {
  Choice choice{id, std::move(answer), {}};
  choice.held.content = std::move(echo);
  if (first_prompt_id) {  // nothing comes before it that could tell how likely it is
    choice.held.logprobs.push_back({{*first_prompt_id, std::numeric_limits<float>::quiet_NaN()}, {}});
  }
  choices_.push_back(std::move(choice));
}

void GenerationCall::start() {
  if (!options_.stream) return;
  exchange_->start_stream({200, "", "text/event-stream", {{"Cache-Control", "no-cache"}}});
  for (uint32_t i = 0; i < choices_.size(); ++i) {
    if (const std::string json = writer_->start(i); !json.empty()) send_event(json);
  }
  last_sent_ = std::chrono::steady_clock::now();
}

void GenerationCall::on_event(TokenEvent event) {
  const auto found = std::find_if(choices_.begin(), choices_.end(),
                                  [&](const Choice& choice) { return choice.id == event.request_id; });
  QWICK_CHECK(found != choices_.end());
  Choice& choice = *found;
  if (done_ || choice.answer.ended()) return;
  std::move(event.prompt_logprobs.begin(), event.prompt_logprobs.end(),
            std::back_inserter(choice.held.logprobs));
  choice.answer.set_cached_tokens(event.n_reused);
  if (options_.score_only && event.finish) event.finish = FinishReason::kLength;
  // The id that stops an answer is no part of it; finish() counts it.
  if (event.token && event.finish != FinishReason::kStop && !options_.score_only)
    choice.held += choice.answer.push(*event.token, std::move(event.logprobs));
  if (event.finish == FinishReason::kCancelled) {
    fail({503, "the server is shutting down"});  // nobody else cancels a call that still waits
  } else if (event.finish) {
    choice.held += choice.answer.finish(*event.finish);
  }
}

void GenerationCall::flush() {
  if (done_) return;
  if (!options_.stream) {
    if (unended().empty()) respond_whole();
    return;
  }
  if (exchange_->unsent_bytes() > kMaxUnsentBytes) return;
  for (uint32_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (!choice.held.empty()) send_event(writer_->delta(i, std::exchange(choice.held, {})));
    if (!choice.answer.ended() || choice.end_sent) continue;
    choice.end_sent = true;
    send_event(writer_->finish(i, choice.answer.finish_reason()));
  }
  if (unended().empty()) finish_stream();
}

void GenerationCall::keep_alive(Time since) {
  if (!options_.stream || done_ || last_sent_ > since) return;
  exchange_->write(": keep-alive\n\n");
  last_sent_ = std::chrono::steady_clock::now();
}

// The n most likely of each prompt's best_of answers.
void GenerationCall::respond_whole() {
  done_ = true;
  std::vector<api::FinishedChoice> finished;
  for (size_t first = 0; first < choices_.size(); first += options_.best_of) {
    std::vector<size_t> order(options_.best_of);
    std::iota(order.begin(), order.end(), first);
    if (options_.best_of > options_.n) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return choices_[a].answer.mean_logprob() > choices_[b].answer.mean_logprob();
      });
    }
    for (uint32_t i = 0; i < options_.n; ++i) {
      Choice& choice = choices_[order[i]];
      finished.push_back({std::move(choice.held), choice.answer.finish_reason()});
    }
  }
  exchange_->respond({200, writer_->whole(finished, usage())});
}

void GenerationCall::finish_stream() {
  done_ = true;
  if (options_.include_usage) send_event(writer_->usage(usage()));
  send_event("[DONE]");
  exchange_->finish();
}

void GenerationCall::fail(const api::ApiError& error) {
  if (done_) return;
  done_ = true;
  if (!options_.stream) {
    exchange_->respond(error_response(error));
    return;
  }
  send_event(api::error_body(error));
  send_event("[DONE]");
  exchange_->finish();
}

// A prompt counts once, however many answers it has.
api::Usage GenerationCall::usage() const {
  api::Usage total;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const api::Usage& usage = choices_[i].answer.usage();
    total.completion_tokens += usage.completion_tokens;
    total.reasoning_tokens += usage.reasoning_tokens;
    if (i % options_.best_of != 0) continue;
    total.prompt_tokens += usage.prompt_tokens;
    total.cached_tokens += usage.cached_tokens;
  }
  return total;
}

size_t GenerationCall::held_bytes() const {
  size_t n = 0;
  for (const Choice& choice : choices_)
    if (!choice.answer.ended()) n += choice.held.content.size() + choice.held.reasoning.size();
  return n;
}

std::vector<uint64_t> GenerationCall::take_ended() {
  std::vector<uint64_t> ended;
  for (Choice& choice : choices_) {
    if (!choice.end_told && (choice.answer.ended() || done_)) {
      choice.end_told = true;
      ended.push_back(choice.id);
    }
  }
  return ended;
}

std::vector<uint64_t> GenerationCall::unended() const {
  std::vector<uint64_t> ids;
  for (const Choice& choice : choices_) {
    if (!choice.answer.ended()) ids.push_back(choice.id);
  }
  return ids;
}

void GenerationCall::send_event(std::string_view json) {
  exchange_->write(fmt::format("data: {}\n\n", json));
  last_sent_ = std::chrono::steady_clock::now();
}

}  // namespace qwick
