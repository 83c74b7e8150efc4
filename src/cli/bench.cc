// `qwick bench limits`: what this machine can do at most. `qwick bench engine`: what the engine makes of
// it with a model, without HTTP. Both figures come from one run, so that their ratio means something
// on any machine, however busy.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "bench/machine.h"
#include "cli/input.h"
#include "cli/local_engine.h"

namespace qwick::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMaxBatch = 16;
constexpr uint32_t kChatPrompt = 13;  // tokens of "你好" in Qwen3's template
constexpr uint32_t kDecodeTokens = 48;
constexpr uint32_t kBatchPrompt = 16;
constexpr uint32_t kBatchTokens = 2 * kDecodeTokens;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Runs requests on an engine and notes when each token came.
class EngineBench {
 public:
  EngineBench(const ReadyModel& loaded, const Options& options)
      : engine_(loaded, options, kMaxBatch),
        vocab_size_(static_cast<uint32_t>(loaded.tokenizer.vocab_size())),
        n_rounds_(options.rounds) {}

  Backend& backend() { return engine_.backend(); }
  uint32_t max_positions() { return engine_.max_positions(); }

  // Seconds until the first token of a prompt that nothing is cached of.
  double prompt_seconds(uint32_t n_tokens) {
    std::vector<double> seconds;
    for (uint32_t round = 0; round < n_rounds_; ++round) {
      submit(prompt(n_tokens, ++n_prompts_), 1, false);
      seconds.push_back(finish_all().begin()->second.front());
    }
    return median(std::move(seconds));
  }

  // Seconds for each token of one answer after a prompt of this many tokens.
  double decode_seconds(uint32_t depth) {
    std::vector<double> seconds;
    for (uint32_t round = 0; round < n_rounds_; ++round) {
      submit(prompt(std::max(depth, 1U), 0), kDecodeTokens, true);
      const std::vector<double> times = finish_all().begin()->second;
      seconds.push_back((times.back() - times.front()) / (kDecodeTokens - 1));
    }
    return median(std::move(seconds));
  }

  // Tokens a second of n answers together, counted while all of them run.
  double batch_tokens_per_second(uint32_t n_sequences) {
    std::vector<double> rates;
    for (uint32_t round = 0; round < n_rounds_; ++round) {
      for (uint32_t i = 0; i < n_sequences; ++i)
        submit(prompt(kBatchPrompt, ++n_prompts_), kBatchTokens, false);
      double begin = 0;
      double end = 1e9;
      const auto answers = finish_all();
      for (const auto& [id, times] : answers) {
        begin = std::max(begin, times.front());
        end = std::min(end, times.back());
      }
      size_t n_tokens = 0;
      for (const auto& [id, times] : answers) {
        n_tokens += static_cast<size_t>(
            std::count_if(times.begin(), times.end(), [&](double t) { return t > begin && t <= end; }));
      }
      rates.push_back(static_cast<double>(n_tokens) / (end - begin));
    }
    return median(std::move(rates));
  }

  // Gaps between the tokens of four answers: the usual one, and the longest while a prompt of n_tokens
  // is being read.
  struct Gaps {
    double usual = 0;
    double longest = 0;
  };
  Gaps gaps_beside_prompt(uint32_t n_tokens) {
    constexpr uint32_t kBefore = 16;  // tokens of each answer
    constexpr uint32_t kAnswer = 256;
    std::array<uint64_t, 4> streams{};
    for (uint64_t& stream : streams) stream = submit(prompt(kBatchPrompt, ++n_prompts_), kAnswer, false);
    while (times_[streams.back()].size() < kBefore) wait();
    const double arrival = seconds_since(start_);
    const uint64_t arrived = submit(prompt(n_tokens, ++n_prompts_), 1, false);
    auto answers = finish_all();
    const double first_token = answers[arrived].front() + arrival;
    std::vector<double> before;
    Gaps gaps;
    for (const uint64_t id : streams) {
      const std::vector<double>& times = answers[id];
      for (size_t i = 1; i < times.size(); ++i) {
        const double gap = times[i] - times[i - 1];
        if (times[i] < arrival) before.push_back(gap);
        if (times[i] > arrival && times[i - 1] < first_token) gaps.longest = std::max(gaps.longest, gap);
      }
    }
    gaps.usual = median(std::move(before));
    return gaps;
  }

 private:
  std::vector<int32_t> prompt(uint32_t n_tokens, uint64_t seed) const {
    std::vector<int32_t> ids(n_tokens);
    for (uint32_t i = 0; i < n_tokens; ++i)
      ids[i] = static_cast<int32_t>(mix_bits(mix_bits(seed) ^ i) % vocab_size_);
    return ids;
  }

  uint64_t submit(std::vector<int32_t> ids, uint32_t max_tokens, bool use_cache) {
    if (n_open_ == 0) {
      times_.clear();
      start_ = Clock::now();
    }
    GenerationRequest request;
    request.prompt = std::move(ids);
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    request.use_cache = use_cache;
    ++n_open_;
    return engine_.engine().submit(std::move(request));
  }
  void wait() {
    for (const TokenEvent& event : engine_.wait_events()) {
      if (event.token) times_[event.request_id].push_back(seconds_since(start_));
      if (event.finish) --n_open_;
    }
  }
  // When the tokens of each answer came, in seconds from the first submit.
  std::map<uint64_t, std::vector<double>> finish_all() {
    while (n_open_ > 0) wait();
    return std::move(times_);
  }

  LocalEngine engine_;
  uint32_t vocab_size_;
  uint32_t n_rounds_;
  uint64_t n_prompts_ = 0;
  uint32_t n_open_ = 0;
  Clock::time_point start_;
  std::map<uint64_t, std::vector<double>> times_;
};

// The measurements one after another, each printed as it comes and kept for the JSON.
class Report {
 public:
  Report(Machine machine, const Backend& backend, bool is_quiet)
      : machine_(std::move(machine)), work_(backend.work()), is_quiet_(is_quiet) {}

  void prompts(EngineBench& bench) {
    Json rows = Json::array();
    for (const uint32_t n : {16U, 128U, 512U, 2048U}) {
      if (n + 1 > bench.max_positions()) break;
      const double rate = n / bench.prompt_seconds(n);
      const double share = rate * static_cast<double>(work_.macs_per_token) / machine_.limits.int8_macs_per_s;
      rows.push_back({{"tokens", n}, {"tokens_per_s", rate}, {"share_of_int8_peak", share}});
      say("prompt of {:<5}            {:8.1f} tok/s   {:3.0f} % of the int8 peak", n, rate, 100 * share);
    }
    json_["prompt"] = rows;
  }
  void decodes(EngineBench& bench) {
    Json rows = Json::array();
    for (const uint32_t depth : {0U, 2048U, 8192U}) {
      if (depth + kDecodeTokens > bench.max_positions()) break;
      const double rate = 1 / bench.decode_seconds(depth);
      const auto bytes = static_cast<double>(work_.weight_bytes + depth * work_.cache_bytes_per_token);
      const double share = rate * bytes / machine_.limits.read_bytes_per_s;
      if (depth == 0) step_seconds_ = 1 / rate;
      rows.push_back({{"depth", depth}, {"tokens_per_s", rate}, {"share_of_bandwidth", share}});
      say("decode at depth {:<5}      {:8.1f} tok/s   {:3.0f} % of the read bandwidth", depth, rate,
          100 * share);
    }
    json_["decode"] = rows;
  }
  void batches(EngineBench& bench) {
    Json rows = Json::array();
    double one = 0;
    for (const uint32_t n : {1U, 2U, 4U, 8U, kMaxBatch}) {
      const double rate = bench.batch_tokens_per_second(n);
      if (n == 1) one = rate;
      rows.push_back({{"sequences", n}, {"tokens_per_s", rate}, {"times_one", rate / one}});
      say("{:<2} answers at once       {:8.1f} tok/s   {:.2f} times one", n, rate, rate / one);
    }
    json_["batch"] = rows;
  }
  void first_token(EngineBench& bench) {
    const double seconds = bench.prompt_seconds(kChatPrompt);
    json_["first_token"] = {
        {"prompt_tokens", kChatPrompt}, {"ms", 1e3 * seconds}, {"decode_steps", seconds / step_seconds_}};
    say("first token after {}      {:8.1f} ms      {:.2f} decode steps", kChatPrompt, 1e3 * seconds,
        seconds / step_seconds_);
  }
  void mixed(EngineBench& bench) {
    constexpr uint32_t kPrompt = 2048;
    if (kPrompt + 1 > bench.max_positions()) return;
    const EngineBench::Gaps gaps = bench.gaps_beside_prompt(kPrompt);
    json_["mixed"] = {{"prompt_tokens", kPrompt},
                      {"usual_gap_ms", 1e3 * gaps.usual},
                      {"longest_gap_ms", 1e3 * gaps.longest},
                      {"times_usual", gaps.longest / gaps.usual}};
    say("4 answers, {} arrive   {:8.1f} ms gap  {:.2f} times the usual {:.1f} ms", kPrompt,
        1e3 * gaps.longest, gaps.longest / gaps.usual, 1e3 * gaps.usual);
  }
  void residence(double load_seconds) {
    json_["load_s"] = load_seconds;
    json_["resident_mib"] = resident_mib(::getpid());
    json_["weight_mib"] = static_cast<double>(work_.weight_bytes) / (1 << 20);
    say("loaded in                 {:8.0f} ms", 1e3 * load_seconds);
    say("resident                  {:8.0f} MiB     weights {:.0f} MiB, cache {:.1f} KiB a token",
        resident_mib(::getpid()), static_cast<double>(work_.weight_bytes) / (1 << 20),
        static_cast<double>(work_.cache_bytes_per_token) / 1024);
  }

  Json json() const {
    Json all = {{"machine", to_json(machine_)}};
    all.update(json_);
    return all;
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    if (is_quiet_) return;
    fmt::print("{}\n", fmt::format(format, std::forward<Args>(args)...));
    std::fflush(stdout);
  }

  Machine machine_;
  StepWork work_;
  bool is_quiet_;
  double step_seconds_ = 0;
  Json json_ = Json::object();
};

}  // namespace

int bench_limits(const Options& options) {
  const Machine machine = measure_machine(n_threads(options));
  if (options.json) {
    fmt::print("{}\n", to_json(machine).dump());
  } else {
    fmt::print("{}\n", to_line(machine));
  }
  return 0;
}

int bench_engine(const Options& options) {
  if (options.rounds == 0) fail(ErrorCode::kInvalidArgument, "--rounds must be 1 or more");
  const Clock::time_point start = Clock::now();
  const ReadyModel loaded = load_ready_model(options);
  EngineBench bench(loaded, options);
  const double load_seconds = seconds_since(start);
  if (bench.max_positions() < kBatchPrompt + kBatchTokens) {
    fail(ErrorCode::kInvalidArgument, "a context of {} tokens is too short: {} are needed",
         bench.max_positions(), kBatchPrompt + kBatchTokens);
  }
  const Machine machine = measure_machine(n_threads(options));
  if (!options.json) fmt::print("{}\n", to_line(machine));
  Report report(machine, bench.backend(), options.json);
  bench.prompt_seconds(kChatPrompt);  // warm up
  report.decodes(bench);
  report.first_token(bench);
  report.prompts(bench);
  report.batches(bench);
  report.mixed(bench);
  report.residence(load_seconds);
  if (options.json) fmt::print("{}\n", report.json().dump());
  return 0;
}

}  // namespace qwick::cli
