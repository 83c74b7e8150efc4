// `qwick perplexity`: how surprised a model is by a text, teacher-forced over the whole file as one
// sequence, nothing added, the first token unscored.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "cli/backend.h"
#include "cli/input.h"

namespace qwick::cli {
namespace {

constexpr size_t kChunk = 64;  // tokens per forward pass; bounds the logits held at once

double log_probability(std::span<const float> logits, int32_t id) {
  const float max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  return static_cast<double>(logits[static_cast<size_t>(id)]) - max - std::log(sum);
}

// The natural log-probability of every id but the first, given all before it.
std::vector<double> score(Executor& executor, size_t vocab_size, std::span<const int32_t> ids) {
  std::vector<int32_t> blocks(executor.options().n_blocks);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<double> log_probabilities;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += kChunk) {
    const auto chunk = ids.subspan(begin, std::min(kChunk, ids.size() - 1 - begin));
    const auto n_tokens = static_cast<uint32_t>(chunk.size());
    const StepBatch batch{{{blocks, static_cast<uint32_t>(begin), chunk, n_tokens}}};
    const std::span<const float> logits = executor.step(batch);
    const size_t stride = logits.size() / chunk.size();
    for (size_t i = 0; i < chunk.size(); ++i) {
      log_probabilities.push_back(
          log_probability(logits.subspan(i * stride, vocab_size), ids[begin + i + 1]));
    }
  }
  return log_probabilities;
}

}  // namespace

int perplexity(const Options& options) {
  const ReadyModel loaded = load_ready_model(options);
  const std::vector<int32_t> ids = loaded.tokenizer.encode(read_text(options));
  if (ids.size() < 2)
    fail(ErrorCode::kInvalidArgument, "{}: too short; two tokens or more are needed", options.file);
  Backend backend(loaded, options, kChunk);
  if (ids.size() > backend.executor().options().max_positions) {
    fail(ErrorCode::kInvalidArgument, "{}: {} tokens, more than the context of {}; see --kv-cache-mib",
         options.file, ids.size(), backend.executor().options().max_positions);
  }
  const std::vector<double> log_probabilities =
      score(backend.executor(), loaded.model.config().vocab_size, ids);
  double sum = 0;
  for (const double value : log_probabilities) sum += value;
  const double ppl = std::exp(-sum / static_cast<double>(log_probabilities.size()));

  if (options.json) {
    Json result{{"tokens", ids.size()}, {"ppl", ppl}};
    if (options.logprobs) result["logprobs"] = log_probabilities;
    fmt::print("{}\n", result.dump());
    return 0;
  }
  if (options.logprobs) {
    for (size_t i = 0; i < log_probabilities.size(); ++i) {
      const Json token = std::string(loaded.tokenizer.token_bytes(ids[i + 1]));
      fmt::print("{:10.5f}\t{}\n", log_probabilities[i],
                 token.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  fmt::print("{} tokens, perplexity {:.4f}\n", ids.size(), ppl);
  return 0;
}

}  // namespace qwick::cli
