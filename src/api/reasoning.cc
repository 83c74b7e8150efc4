#include "api/reasoning.h"

#include <algorithm>
#include <utility>

namespace qwick::api {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

// Where the end of `text` begins that may still become newlines and a closing tag.
size_t possible_close(std::string_view text) {
  size_t start = text.size() - std::min(text.size(), kClose.size() - 1);
  while (!kClose.starts_with(text.substr(start))) ++start;
  while (start > 0 && text[start - 1] == '\n') --start;
  return start;
}

}  // namespace

AnswerText& AnswerText::operator+=(const AnswerText& more) {
  reasoning += more.reasoning;
  content += more.content;
  return *this;
}

ReasoningSplitter::ReasoningSplitter(Thinking thinking)
    : state_(thinking == Thinking::kOff     ? State::kContent
             : thinking == Thinking::kByTag ? State::kUndecided
                                            : State::kReasoning),
      after_tag_(thinking == Thinking::kOpened) {}

void ReasoningSplitter::open() {
  const std::string_view text = held_;
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return;
  if (text.substr(start).starts_with(kOpen)) {
    held_.erase(0, start + kOpen.size());
    state_ = State::kReasoning;
    after_tag_ = true;
  } else if (!kOpen.starts_with(text.substr(start))) {
    state_ = State::kContent;
  }
}

void ReasoningSplitter::drop_newlines() {
  if (!after_tag_) return;
  held_.erase(0, std::min(held_.find_first_not_of('\n'), held_.size()));
  if (!held_.empty()) after_tag_ = false;
}

std::string ReasoningSplitter::take_reasoning() {
  drop_newlines();
  const size_t close = held_.find(kClose);
  if (close == std::string::npos) {
    std::string safe = held_.substr(0, possible_close(held_));
    held_.erase(0, safe.size());
    return safe;
  }
  std::string last = held_.substr(0, close);
  last.erase(last.find_last_not_of('\n') + 1);
  held_.erase(0, close + kClose.size());
  state_ = State::kContent;
  after_tag_ = true;
  return last;
}

AnswerText ReasoningSplitter::push(std::string_view text) {
  held_ += text;
  AnswerText shown;
  if (state_ == State::kUndecided) open();
  if (state_ == State::kReasoning) shown.reasoning = take_reasoning();
  if (state_ == State::kContent) {
    drop_newlines();
    shown.content = std::exchange(held_, {});
  }
  return shown;
}

AnswerText ReasoningSplitter::flush() {
  AnswerText rest;
  (state_ == State::kReasoning ? rest.reasoning : rest.content) = std::exchange(held_, {});
  return rest;
}

}  // namespace qwick::api
