// Splits what a thinking model writes, "<think>\n…\n</think>\n\n…", into reasoning and content while
// it comes in pieces: tags and the newlines around them go, partial tags are held back. The result
// does not depend on how the text was cut into pieces.
#pragma once

#include <string>
#include <string_view>

namespace qwick::api {

enum class Thinking {
  kOff,     // everything is content
  kByTag,   // the answer may open with <think>; a tag further on is content
  kOpened,  // the prompt has opened the tag: the answer starts as reasoning
};

struct AnswerText {
  std::string reasoning;
  std::string content;

  bool empty() const { return reasoning.empty() && content.empty(); }
  AnswerText& operator+=(const AnswerText& more);
};

class ReasoningSplitter {
 public:
  explicit ReasoningSplitter(Thinking thinking);

  AnswerText push(std::string_view text);
  AnswerText flush();  // the text is at its end: what was held back
  bool in_reasoning() const { return state_ == State::kReasoning; }

 private:
  enum class State { kUndecided, kReasoning, kContent };

  void open();                   // decides whether the text starts with a tag
  std::string take_reasoning();  // reasoning that is safe to show; moves on at the closing tag
  void drop_newlines();

  State state_;
  bool after_tag_;    // newlines that come next belong to the tag
  std::string held_;  // not yet given out
};

}  // namespace qwick::api
