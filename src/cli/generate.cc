// `qwick generate`: one prompt, one answer. Plain text is continued as it stands; --chat puts it
// through the model's template as the user's message.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "api/chat_service.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/input.h"
#include "cli/local_engine.h"

namespace qwick::cli {
namespace {

constexpr uint32_t kDefaultMaxTokens = 128;

std::string_view finish_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
}

void check_sampling(const Options& options) {
  const auto check = [](bool is_good, std::string_view flag, std::string_view range) {
    if (!is_good) fail(ErrorCode::kInvalidArgument, "{} must be {}", flag, range);
  };
  check(options.temperature <= 100, "--temperature", "100 or less");
  check(options.top_p >= 0 && options.top_p <= 1, "--top-p", "between 0 and 1");
  check(options.min_p >= 0 && options.min_p <= 1, "--min-p", "between 0 and 1");
  check(options.top_k >= 0, "--top-k", "0 or more");
  check(options.repetition_penalty > 0 && options.repetition_penalty <= 100, "--repetition-penalty",
        "above 0, at most 100");
}

std::vector<int32_t> chat_prompt(const LoadedModel& loaded, const Options& options, uint32_t context_length) {
  if (!loaded.chat_template) {
    fail(ErrorCode::kInvalidArgument, "{}: the model has no chat template; choose one with --chat-template",
         options.model);
  }
  api::ChatRequest request;
  if (!options.system.empty()) request.messages.push_back({{"role", "system"}, {"content", options.system}});
  request.messages.push_back({{"role", "user"}, {"content", options.prompt}});
  if (options.no_think) request.enable_thinking = false;
  const api::ChatService service(loaded.tokenizer, *loaded.chat_template, loaded.model.generation_defaults(),
                                 context_length);
  return service.prepare(request, 0).generation.prompt;
}

std::vector<int32_t> prompt_ids(const LoadedModel& loaded, const Options& options, uint32_t context_length) {
  const auto n_ids = static_cast<int32_t>(loaded.model.config().vocab_size);
  for (const int32_t id : options.ids) {
    if (id < 0 || id >= n_ids)
      fail(ErrorCode::kInvalidArgument, "--ids: {} is not below the vocabulary size {}", id, n_ids);
  }
  if (!options.ids.empty()) return options.ids;
  if (options.chat) return chat_prompt(loaded, options, context_length);
  std::vector<int32_t> ids = loaded.tokenizer.encode(options.prompt);
  if (ids.empty()) fail(ErrorCode::kInvalidArgument, "nothing to continue: give --prompt or --ids");
  return ids;
}

}  // namespace

int generate(const Options& options) {
  check_sampling(options);
  const ReadyModel loaded = load_ready_model(options);
  LocalEngine engine(loaded, options);

  GenerationRequest request;
  request.prompt = prompt_ids(loaded, options, engine.max_positions());
  request.max_tokens = options.max_tokens > 0 ? options.max_tokens : kDefaultMaxTokens;
  request.sampling = {std::max(options.temperature, 0.0), options.top_k, options.top_p, options.min_p,
                      options.repetition_penalty,         options.seed};
  if (!options.ignore_eos) request.stop_ids = end_ids(loaded);

  std::vector<int32_t> ids;
  StreamDecoder decoder(loaded.tokenizer);
  const auto show = [&](const std::string& text) {
    if (options.json) return;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  const auto on_token = [&](int32_t id) {
    ids.push_back(id);
    show(decoder.push(id));
    return true;
  };
  const Outcome outcome = engine.run(std::move(request), on_token);
  show(decoder.flush() + "\n");
  if (options.json) {
    const std::string text = loaded.tokenizer.decode(ids, true);
    if (outcome.stop_id) ids.push_back(*outcome.stop_id);
    const Json result{{"ids", ids}, {"text", text}, {"finish_reason", finish_name(outcome.finish)}};
    fmt::print("{}\n", result.dump());
  }
  return 0;
}

}  // namespace qwick::cli
