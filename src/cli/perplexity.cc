// `qwick perplexity`: how surprised a model is by a text, teacher-forced over the whole file as one
// sequence, nothing added, the first token unscored.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "cli/backend.h"
#include "cli/input.h"
#include "model/reference.h"

namespace qwick::cli {
namespace {

constexpr size_t kChunk = 64;  // tokens per forward pass; bounds the logits held at once

double log_probability(std::span<const float> logits, int32_t id) {
  const float max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  return static_cast<double>(logits[static_cast<size_t>(id)]) - max - std::log(sum);
}

// Both kinds of forward pass: tokens in, a row of logits for each out.
using Forward = std::function<std::span<const float>(std::span<const int32_t> tokens)>;

Forward reference_forward(const Model& model, int threads) {
  struct State {
    State(const Model& the_model, int n_threads) : reference(the_model, n_threads) {}
    Reference reference;
    ReferenceCache cache;
    std::vector<float> logits;
  };
  const auto state = std::make_shared<State>(model, threads);
  return [state, &model](std::span<const int32_t> tokens) -> std::span<const float> {
    state->logits.resize(tokens.size() * model.config().vocab_size);
    const ReferenceChunk chunk{tokens, &state->cache, static_cast<uint32_t>(tokens.size())};
    state->reference.forward({&chunk, 1}, state->logits);
    return state->logits;
  };
}

Forward engine_forward(const LoadedModel& loaded, const Options& options) {
  auto backend = std::make_shared<Backend>(loaded, options, kChunk);
  auto blocks = std::make_shared<std::vector<int32_t>>(backend->executor().n_blocks());
  std::iota(blocks->begin(), blocks->end(), 0);
  auto position = std::make_shared<uint32_t>(0);
  return [backend, blocks, position](std::span<const int32_t> tokens) {
    const auto n = static_cast<uint32_t>(tokens.size());
    const StepBatch batch{{{*blocks, *position, tokens, n}}};
    *position += n;
    return backend->executor().step(batch);
  };
}

// The natural log-probability of every id but the first, given all before it.
std::vector<double> score(const Forward& forward, size_t vocab_size, std::span<const int32_t> ids) {
  std::vector<double> log_probabilities;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += kChunk) {
    const auto chunk = ids.subspan(begin, std::min(kChunk, ids.size() - 1 - begin));
    const std::span<const float> logits = forward(chunk);
    const size_t stride = logits.size() / chunk.size();
    for (size_t i = 0; i < chunk.size(); ++i) {
      log_probabilities.push_back(log_probability(logits.subspan(i * stride, vocab_size), ids[begin + i + 1]));
    }
  }
  return log_probabilities;
}

}  // namespace

int perplexity(const Options& options) {
  const LoadedModel loaded = load_model(options.model);
  const std::vector<int32_t> ids = loaded.tokenizer.encode(read_text(options));
  if (ids.size() < 2) fail(ErrorCode::kInvalidArgument, "{}: too short; two tokens or more are needed", options.file);
  if (ids.size() > loaded.model.config().max_positions) {
    fail(ErrorCode::kInvalidArgument, "{}: {} tokens, more than the model's context of {}", options.file, ids.size(),
         loaded.model.config().max_positions);
  }
  const std::vector<double> log_probabilities = score(
      options.dtype == "f32" ? reference_forward(loaded.model, n_threads(options)) : engine_forward(loaded, options),
      loaded.model.config().vocab_size, ids);
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
      fmt::print("{:10.5f}\t{}\n", log_probabilities[i], token.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  fmt::print("{} tokens, perplexity {:.4f}\n", ids.size(), ppl);
  return 0;
}

}  // namespace qwick::cli
