// Request bodies of any bytes through the chat request parser, and texts of any bytes, cut anywhere,
// through what splits answers: nothing but ApiError may come out, and no cut may change the result.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat_request.h"
#include "api/errors.h"
#include "api/reasoning.h"
#include "api/special_text_guard.h"
#include "api/stop_strings.h"

namespace {

using namespace qwick::api;  // NOLINT(google-build-using-namespace)

void require(bool condition) {
  if (!condition) std::abort();
}

struct Shown {
  std::string reasoning, content;
  bool stopped = false;
  bool operator==(const Shown&) const = default;
};

Shown show(Thinking thinking, const std::vector<std::string>& stops, std::string_view text, size_t piece) {
  ReasoningSplitter splitter(thinking);
  StopStrings matcher(stops);
  Shown shown;
  const auto take = [&](const AnswerText& answer) {
    shown.reasoning += answer.reasoning;
    shown.content += matcher.push(answer.content);
  };
  for (size_t i = 0; i < text.size(); i += piece) take(splitter.push(text.substr(i, piece)));
  take(splitter.flush());
  shown.content += matcher.flush();
  shown.stopped = matcher.found();
  return shown;
}

void check_splitting(const std::vector<std::string>& stops, std::string_view text) {
  for (const Thinking thinking : {Thinking::kOff, Thinking::kByTag, Thinking::kOpened}) {
    const Shown whole = show(thinking, stops, text, text.size() + 1);
    for (const size_t piece : {1, 2, 7}) require(show(thinking, stops, text, piece) == whole);
    require(whole.reasoning.size() + whole.content.size() <= text.size());
    for (const std::string& stop : stops) require(whole.content.find(stop) == std::string::npos);
  }
}

// What users write comes through the guard unchanged, and none of it can be parsed as special.
void check_guard(const SpecialTextGuard& guard, const ChatRequest& request) {
  for (const auto& message : request.messages) {
    const auto content = message["content"].get<std::string>();
    std::string marked = content;
    guard.mark(marked);
    std::string joined;
    for (const auto& piece : guard.split("<s>" + marked)) {
      joined += piece.text;
      if (piece.special == qwick::SpecialText::kParse) {
        const std::string_view own =
            std::string_view(piece.text).substr(piece.text.starts_with("<s>") ? 3 : 0);
        require(own.find("<s>") == std::string_view::npos && own.find("<|e|>") == std::string_view::npos);
      }
    }
    require(joined == "<s>" + content);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const SpecialTextGuard kGuard(std::vector<std::string>{"<s>", "<|e|>"});
  std::vector<std::string> stops{"ab", "</"};
  try {
    const ChatRequest request = parse_chat_request(text);
    require(!request.messages.empty() && request.max_tokens.value_or(1) > 0);
    if (!request.stop.empty()) stops = request.stop;
    check_guard(kGuard, request);
    for (const auto& message : request.messages)
      check_splitting(stops, message["content"].get<std::string>());
  } catch (const ApiError& error) {
    require(error.status() == 400 && !error_body(error).empty());
  }
  check_splitting(stops, text);
  return 0;
}
