// `qwick perplexity`: how surprised a model is by a text, teacher-forced over the whole file as one
// sequence, nothing added, the first token unscored.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "cli/backend.h"
#include "cli/input.h"
#include "engine/logprobs.h"

namespace qwick::cli {
namespace {

constexpr size_t kChunk = 64;  // tokens per forward pass; bounds the logits held at once

double divergence(std::span<const float> reference, std::span<const float> other) {
  const double reference_log_sum = log_sum_exp(reference);
  const double other_log_sum = log_sum_exp(other);
  double sum = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double expected = reference[i] - reference_log_sum;
    sum += std::exp(expected) * (expected - (other[i] - other_log_sum));
  }
  return sum;
}

// Goes through a text in chunks and keeps the natural log-probability of every id but the first, given
// all before it.
class Scorer {
 public:
  Scorer(Executor& executor, size_t vocab_size)
      : executor_(executor), vocab_size_(vocab_size), blocks_(executor.options().n_blocks) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
  }

  // Scores what follows each of ids[begin, begin + n).
  void step(std::span<const int32_t> ids, size_t begin, size_t n) {
    const StepBatch batch{
        {{blocks_, static_cast<uint32_t>(begin), ids.subspan(begin, n), static_cast<uint32_t>(n)}}};
    logits_ = executor_.step(batch);
    for (size_t i = 0; i < n; ++i) {
      const std::span<const float> row = logits(i);
      log_probabilities_.push_back(row[static_cast<size_t>(ids[begin + i + 1])] - log_sum_exp(row));
    }
  }
  // Of row i of the last step, for the ids of the model.
  std::span<const float> logits(size_t i) const {
    return logits_.subspan(i * executor_.vocab_size(), vocab_size_);
  }

  const std::vector<double>& log_probabilities() const { return log_probabilities_; }
  double perplexity() const {
    const double sum = std::accumulate(log_probabilities_.begin(), log_probabilities_.end(), 0.0);
    return std::exp(-sum / static_cast<double>(log_probabilities_.size()));
  }

 private:
  Executor& executor_;
  size_t vocab_size_;
  std::vector<int32_t> blocks_;
  std::span<const float> logits_;
  std::vector<double> log_probabilities_;
};

// --against-f32: how far the quantised distributions are from the reference's.
struct Comparison {
  double reference_perplexity = 0;
  double mean_divergence = 0;  // Kullback-Leibler, in nats
  double same_best = 0;        // share of positions with the same most probable id
};

Comparison compare(const ReadyModel& ready, const Options& options, std::span<const int32_t> ids,
                   Scorer& scorer) {
  Options reference_options = options;
  reference_options.dtype = "f32";
  Backend reference_backend(ready, reference_options, kChunk);
  Scorer reference(reference_backend.executor(), ready.model.config().vocab_size);
  Comparison result;
  const auto n_scored = static_cast<double>(ids.size() - 1);
  for (size_t begin = 0; begin + 1 < ids.size(); begin += kChunk) {
    const size_t n = std::min(kChunk, ids.size() - 1 - begin);
    reference.step(ids, begin, n);
    scorer.step(ids, begin, n);
    for (size_t i = 0; i < n; ++i) {
      const std::span<const float> expected = reference.logits(i);
      const std::span<const float> got = scorer.logits(i);
      result.mean_divergence += divergence(expected, got) / n_scored;
      const auto best = [](std::span<const float> row) {
        return std::max_element(row.begin(), row.end()) - row.begin();
      };
      if (best(expected) == best(got)) result.same_best += 1 / n_scored;
    }
  }
  result.reference_perplexity = reference.perplexity();
  return result;
}

}  // namespace

int perplexity(const Options& options) {
  const ReadyModel ready = load_ready_model(options);
  const std::vector<int32_t> ids = ready.tokenizer.encode(read_text(options));
  if (ids.size() < 2)
    fail(ErrorCode::kInvalidArgument, "{}: too short; two tokens or more are needed", options.file);
  Backend backend(ready, options, kChunk);
  if (ids.size() > backend.executor().options().max_positions) {
    fail(ErrorCode::kInvalidArgument, "{}: {} tokens, more than the context of {}; see --kv-cache-mib",
         options.file, ids.size(), backend.executor().options().max_positions);
  }
  Scorer scorer(backend.executor(), ready.model.config().vocab_size);
  std::optional<Comparison> comparison;
  if (options.against_f32) {
    comparison = compare(ready, options, ids, scorer);
  } else {
    for (size_t begin = 0; begin + 1 < ids.size(); begin += kChunk)
      scorer.step(ids, begin, std::min(kChunk, ids.size() - 1 - begin));
  }
  const std::vector<double>& log_probabilities = scorer.log_probabilities();
  const double ppl = scorer.perplexity();

  if (options.json) {
    Json result{{"tokens", ids.size()}, {"ppl", ppl}};
    if (comparison) {
      result["reference_ppl"] = comparison->reference_perplexity;
      result["mean_divergence"] = comparison->mean_divergence;
      result["same_best"] = comparison->same_best;
    }
    if (options.logprobs) result["logprobs"] = log_probabilities;
    fmt::print("{}\n", result.dump());
    return 0;
  }
  if (options.logprobs) {
    for (size_t i = 0; i < log_probabilities.size(); ++i) {
      const Json token = std::string(ready.tokenizer.token_bytes(ids[i + 1]));
      fmt::print("{:10.5f}\t{}\n", log_probabilities[i],
                 token.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  fmt::print("{} tokens, perplexity {:.4f}\n", ids.size(), ppl);
  if (comparison) {
    fmt::print("reference {:.4f} ({:+.2f} %), mean divergence {:.5f} nats, same best token {:.1f} %\n",
               comparison->reference_perplexity, 100 * (ppl / comparison->reference_perplexity - 1),
               comparison->mean_divergence, 100 * comparison->same_best);
  }
  return 0;
}

}  // namespace qwick::cli
