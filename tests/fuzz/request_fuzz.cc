// Request bodies of any bytes through the parsers and preparation of all endpoints, and texts of any bytes,
// cut anywhere, through what splits answers: nothing but ApiError may come out, and no cut may change the
// result.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "api/chat_request.h"
#include "api/chat_service.h"
#include "api/completion_request.h"
#include "api/completion_service.h"
#include "api/errors.h"
#include "api/reasoning.h"
#include "api/special_text_guard.h"
#include "api/stop_strings.h"
#include "api/text_endpoints.h"
#include "base/json.h"
#include "hub/demo_model.h"

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

Shown show(Thinking thinking, const std::vector<std::string>& stops, bool show_stop, std::string_view text,
           size_t piece) {
  ReasoningSplitter splitter(thinking);
  StopStrings matcher(stops, show_stop);
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

constexpr Thinking kThinkings[] = {Thinking::kOff, Thinking::kByTag, Thinking::kOpened};

void check_splitting(const std::vector<std::string>& stops, std::string_view text) {
  for (const Thinking thinking : kThinkings) {
    for (const bool show_stop : {false, true}) {
      const Shown whole = show(thinking, stops, show_stop, text, text.size() + 1);
      for (const size_t piece : {1, 2, 7}) require(show(thinking, stops, show_stop, text, piece) == whole);
      require(whole.reasoning.size() + whole.content.size() <= text.size());
      if (show_stop && whole.stopped) {
        require(std::any_of(stops.begin(), stops.end(),
                            [&](const std::string& stop) { return whole.content.ends_with(stop); }));
      } else {
        for (const std::string& stop : stops) require(whole.content.find(stop) == std::string::npos);
      }
    }
  }
}

// The demo model, but for its weights.
struct Demo {
  qwick::FileSet files = qwick::demo_model_files();
  qwick::Tokenizer tokenizer = qwick::Tokenizer::from_hf(files);
  qwick::ChatTemplate chat_template = qwick::ChatTemplate::builtin("qwen3");
  ChatService service{tokenizer, chat_template, qwick::read_hf_generation_defaults(files), 4096};
};

// An answer of these tokens shows what its text would, and has the log-probabilities of the tokens that it
// shows.
void check_answer(const qwick::Tokenizer& tokenizer, const std::vector<std::string>& stops,
                  std::string_view text) {
  const std::vector<int32_t> ids = tokenizer.encode(text, qwick::SpecialText::kParse);
  const std::string decoded = tokenizer.decode(ids, true);
  for (const Thinking thinking : kThinkings) {
    for (const bool show_stop : {false, true}) {
      Answer answer(tokenizer, thinking, stops, 1, show_stop);
      AnswerPiece all;
      for (const int32_t id : ids) all += answer.push(id, qwick::TokenLogprobs{{id, -1.0F}, {}});
      const bool stopped = answer.ended();
      all += answer.finish(qwick::FinishReason::kLength);
      const Shown whole = show(thinking, stops, show_stop, decoded, decoded.size() + 1);
      require(all.content == whole.content && all.reasoning == whole.reasoning);
      require(all.logprobs.size() <= ids.size() && (stopped || all.logprobs.size() == ids.size()));
      for (size_t i = 0; i < all.logprobs.size(); ++i) require(all.logprobs[i].token.id == ids[i]);
    }
  }
}

// `work` succeeds or refuses, and says why in a line.
template <typename Work>
void check_refusal(const Work& work) {
  try {
    work();
  } catch (const ApiError& error) {
    require(error.status() == 400 && *error.what() != '\0');
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
    require(qwick::Json::accept(error_body(error)));
  }
}

void check_endpoints(const Demo& demo, std::string_view body) {
  check_refusal([&] {
    const CompletionRequest request = parse_completion_request(body);
    require(!request.prompts.empty() && request.max_tokens.value_or(0) > 0 && request.best_of >= request.n);
    const CompletionService completions(demo.tokenizer, demo.service.resolver());
    for (const PreparedCompletion& prepared : completions.prepare(request, 1)) {
      const qwick::GenerationRequest& generation = prepared.generation;
      require(!generation.prompt.empty() && generation.min_tokens <= generation.max_tokens);
      require(generation.prompt.size() + generation.max_tokens <= demo.service.context_length());
    }
  });
  check_refusal(
      [&] { require(!demo.service.prepare(parse_chat_request(body), 1).generation.prompt.empty()); });
  for (const auto& endpoint : {tokenize, detokenize, apply_template})
    check_refusal([&] { require(qwick::Json::accept(endpoint(demo.service, body))); });
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
  static const Demo kDemo;
  std::vector<std::string> stops{"ab", "</"};
  check_refusal([&] {
    const ChatRequest request = parse_chat_request(text);
    require(!request.messages.empty() && request.max_tokens.value_or(1) > 0);
    if (!request.stop.empty()) stops = request.stop;
    check_guard(kGuard, request);
    for (const auto& message : request.messages)
      check_splitting(stops, message["content"].get<std::string>());
  });
  check_splitting(stops, text);
  check_answer(kDemo.tokenizer, stops, text);
  check_endpoints(kDemo, text);
  return 0;
}
