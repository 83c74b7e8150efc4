#include "bench/serve_modes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "bench/figures.h"
#include "bench/load.h"

namespace qwick {
namespace {

constexpr uint32_t kGuideRequests = 20;
constexpr uint32_t kChatTurns = 6;
constexpr uint32_t kRateRequests = 20;
constexpr std::string_view kGreeting = "你好";

// A step of the guide's table: what it switches on, and what the guide saw on its GPU.
struct AblationStep {
  const char* name;
  bool use_cache;
  uint32_t n_clients;
  bool stream;
  bool warm_up;
  std::optional<std::array<int, 3>> guide;  // p50 in ms, tokens a second, percent of the device
};
constexpr std::array<AblationStep, 5> kAblation{{
    {"initial state", false, 1, false, false, {{150, 85, 45}}},
    {"+ KV cache", true, 1, false, false, {{120, 95, 55}}},
    {"+ batch of 4", true, 4, false, false, {{90, 130, 78}}},
    {"+ batch of 8", true, 8, false, false, std::nullopt},
    {"+ streaming and warm-up", true, 4, true, true, {{85, 135, 80}}},
}};

// The i-th variant of a prompt: what a server has cached of another ends before it begins.
std::string with_number(std::string_view text, uint64_t seed, uint32_t i) {
  return fmt::format("{}，{}", mix_bits(mix_bits(seed) + i) % 9000 + 1000, text);
}

double first_text(const StreamReply& reply) {
  return reply.chunk_times.empty() ? reply.seconds : reply.chunk_times.front();
}
// Seconds a token after the first; 0 of a single one.
double inter_token(const StreamReply& reply) {
  if (reply.answer_tokens < 2 || reply.chunk_times.size() < 2) return 0;
  return (reply.chunk_times.back() - reply.chunk_times.front()) / (reply.answer_tokens - 1);
}

// What the replies without an error have in common.
struct Summary {
  explicit Summary(const LoadResult& result) : seconds(result.seconds) {
    for (const StreamReply& reply : result.replies) {
      if (!reply.error.empty()) {
        if (n_failed++ == 0) error = reply.error;
        continue;
      }
      latency_ms.push_back(1e3 * reply.seconds);
      first_token_ms.push_back(1e3 * first_text(reply));
      if (const double gap = inter_token(reply); gap > 0) inter_token_ms.push_back(1e3 * gap);
      for (size_t i = 1; i < reply.chunk_times.size(); ++i)
        longest_gap_ms = std::max(longest_gap_ms, 1e3 * (reply.chunk_times[i] - reply.chunk_times[i - 1]));
      n_prompt_tokens += reply.prompt_tokens;
      n_answer_tokens += reply.answer_tokens;
    }
  }

  size_t n() const { return latency_ms.size(); }
  double per_reply(uint64_t n_tokens) const {
    return n() == 0 ? 0 : static_cast<double>(n_tokens) / static_cast<double>(n());
  }
  double tokens_per_s() const { return static_cast<double>(n_answer_tokens) / seconds; }

  double seconds;
  std::vector<double> latency_ms;
  std::vector<double> first_token_ms;
  std::vector<double> inter_token_ms;  // of each reply, its mean
  double longest_gap_ms = 0;
  uint64_t n_prompt_tokens = 0;
  uint64_t n_answer_tokens = 0;
  size_t n_failed = 0;
  std::string error;  // the first
};

Json percentiles(const std::vector<double>& values) {
  if (values.empty()) return {{"p50", nullptr}, {"p95", nullptr}, {"p99", nullptr}};
  return {
      {"p50", percentile(values, 0.5)}, {"p95", percentile(values, 0.95)}, {"p99", percentile(values, 0.99)}};
}

Json guide_figures(const Summary& summary) {
  const double gap = percentile(summary.inter_token_ms, 0.5);
  return {{"p50_ms", percentile(summary.latency_ms, 0.5)},
          {"p95_ms", percentile(summary.latency_ms, 0.95)},
          {"mean_ms", mean(summary.latency_ms)},
          {"min_ms", percentile(summary.latency_ms, 0)},
          {"max_ms", percentile(summary.latency_ms, 1)},
          {"requests_per_s", static_cast<double>(summary.n()) / summary.seconds},
          {"first_token_ms", percentile(summary.first_token_ms, 0.5)},
          {"tokens_per_s", summary.tokens_per_s()},
          {"decode_tokens_per_s", gap > 0 ? Json(1e3 / gap) : Json(nullptr)}};
}

}  // namespace

// A row of the sweep: a workload by a number of clients, or by a rate.
struct ServeModes::Row {
  std::string workload;
  uint32_t n_clients = 0;
  double rate = 0;

  std::string name() const {
    return rate > 0 ? fmt::format("{}, {:g} requests/s", workload, rate)
                    : fmt::format("{}, {} at once", workload, n_clients);
  }
};

ServeModes::ServeModes(StreamClient& client, ServeOptions options,
                       std::function<void(const std::string&)> say)
    : client_(client), options_(std::move(options)), say_(std::move(say)) {}

Json ServeModes::guide() {
  const LoadOptions load{.model = options_.model};
  std::array<std::vector<Json>, 2> rounds;
  std::array<Json, 2> cases;
  // As an application would: the very first requests warm up.
  const Session greeting{true, "", {{std::string(kGreeting), options_.answer_tokens}}};
  run_load(client_, {greeting, greeting}, load);
  for (uint32_t round = 0; round < options_.rounds; ++round) {
    for (const bool is_new : {false, true}) {
      std::vector<Session> sessions(kGuideRequests, greeting);
      for (uint32_t i = 0; is_new && i < kGuideRequests; ++i)
        sessions[i].turns[0].text = with_number(kGreeting, options_.seed + round, i);
      const Summary summary(run_load(client_, sessions, load));
      if (summary.n() == 0) fail(ErrorCode::kIo, "{}: {}", client_.url(), summary.error);
      cases[is_new] = {{"case", is_new ? "each prompt new" : "as is"},
                       {"n_requests", kGuideRequests},
                       {"n_failed", summary.n_failed},
                       {"prompt_tokens", summary.per_reply(summary.n_prompt_tokens)},
                       {"answer_tokens", summary.per_reply(summary.n_answer_tokens)}};
      rounds[is_new].push_back(guide_figures(summary));
      say_(fmt::format("guide, round {} of {}, {}: p50 {:.1f} ms, first token {:.1f} ms", round + 1,
                       options_.rounds, is_new ? "each prompt new" : "as is",
                       percentile(summary.latency_ms, 0.5), percentile(summary.first_token_ms, 0.5)));
    }
  }
  Json rows = Json::array();
  for (const bool is_new : {false, true}) {
    cases[is_new].update(spread_of_rounds(rounds[is_new]));
    rows.push_back(cases[is_new]);
  }
  return rows;
}

std::vector<Session> ServeModes::sessions_of(const std::string& workload, uint32_t n, uint64_t seed) const {
  std::vector<Session> sessions;
  if (!options_.file_sessions.empty()) {
    const std::vector<Session>& all = options_.file_sessions;
    for (uint32_t i = 0; i < n; ++i) sessions.push_back(all[mix_bits(mix_bits(seed) + i) % all.size()]);
    return sessions;
  }
  const char* const end = workload.data() + workload.size();
  uint32_t prompt_tokens = 0;
  uint32_t answer_tokens = 0;
  const auto [slash, error] = std::from_chars(workload.data(), end, prompt_tokens);
  bool is_shape = error == std::errc() && slash != end && *slash == '/' && prompt_tokens > 0;
  if (is_shape) {
    const auto [rest, second_error] = std::from_chars(slash + 1, end, answer_tokens);
    is_shape = second_error == std::errc() && rest == end && answer_tokens > 0;
  }
  if (!is_shape && workload != "chat") {
    fail(ErrorCode::kInvalidArgument,
         "--workloads: \"{}\" is neither \"chat\" nor tokens of prompt and answer as in 128/128", workload);
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t own = mix_bits(seed) + i;
    sessions.push_back(is_shape ? completion_session(prompt_tokens, answer_tokens, own)
                                : chat_session(kChatTurns, own));
  }
  return sessions;
}

Json ServeModes::run_sweep_row(const Row& row, uint64_t seed) {
  uint32_t n = options_.requests;
  if (n == 0 && row.rate > 0) n = kRateRequests;
  if (n == 0) n = row.workload == "chat" ? std::max(2U, row.n_clients) : std::max(4U, 2 * row.n_clients);
  const std::vector<Session> sessions = sessions_of(row.workload, n, seed);
  const LoadResult result = run_load(
      client_, sessions,
      {.model = options_.model, .n_clients = row.n_clients, .sessions_per_s = row.rate, .seed = seed});
  const Summary summary(result);
  const auto n_good =
      std::count_if(result.replies.begin(), result.replies.end(), [&](const StreamReply& reply) {
        return reply.error.empty() && 1e3 * first_text(reply) <= options_.slo_first_token_ms &&
               1e3 * inter_token(reply) <= options_.slo_inter_token_ms;
      });
  say_(fmt::format(
      "{}: {:.1f} tok/s, first token {:.0f} ms, {:.1f} ms a token{}", row.name(), summary.tokens_per_s(),
      percentile(summary.first_token_ms, 0.5), percentile(summary.inter_token_ms, 0.5),
      summary.n_failed == 0 ? "" : fmt::format("; {} failed: {}", summary.n_failed, summary.error)));
  return {{"n_requests", result.replies.size()},
          {"n_failed", summary.n_failed},
          {"prompt_tokens", summary.per_reply(summary.n_prompt_tokens)},
          {"answer_tokens", summary.per_reply(summary.n_answer_tokens)},
          {"figures",
           {{"tokens_per_s", summary.tokens_per_s()},
            {"requests_per_s", static_cast<double>(summary.n()) / summary.seconds},
            {"first_token_ms", percentiles(summary.first_token_ms)},
            {"inter_token_ms", percentiles(summary.inter_token_ms)},
            {"longest_gap_ms", summary.longest_gap_ms},
            {"latency_ms", percentiles(summary.latency_ms)},
            {"goodput_per_s", static_cast<double>(n_good) / summary.seconds},
            {"good_share", static_cast<double>(n_good) / static_cast<double>(result.replies.size())}}}};
}

Json ServeModes::sweep() {
  std::vector<std::string> workloads = options_.workloads;
  if (!options_.file_sessions.empty()) workloads = {"file"};
  std::vector<Row> rows;
  for (const std::string& workload : workloads) {
    sessions_of(workload, 1, 0);  // complains early
    for (const uint32_t n : options_.concurrency) rows.push_back({workload, n, 0});
    for (const double rate : options_.rates) rows.push_back({workload, 0, rate});
  }
  std::vector<std::vector<Json>> rounds(rows.size());
  run_load(client_, sessions_of(workloads.front(), 1, ~options_.seed),
           {.model = options_.model});  // warms up
  for (uint32_t round = 0; round < options_.rounds; ++round) {
    say_(fmt::format("round {} of {}", round + 1, options_.rounds));
    for (size_t i = 0; i < rows.size(); ++i)
      rounds[i].push_back(run_sweep_row(rows[i], mix_bits(options_.seed + round * rows.size() + i)));
  }
  Json result = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    Json row = {{"workload", rows[i].workload},
                {"concurrency", rows[i].rate > 0 ? Json(nullptr) : Json(rows[i].n_clients)},
                {"rate_per_s", rows[i].rate > 0 ? Json(rows[i].rate) : Json(nullptr)}};
    size_t n_failed = 0;
    std::vector<Json> figures;
    for (const Json& round : rounds[i]) {
      n_failed += round["n_failed"].get<size_t>();
      figures.push_back(round["figures"]);
    }
    for (const char* name : {"n_requests", "prompt_tokens", "answer_tokens"})
      row[name] = rounds[i].front()[name];
    row["n_failed"] = n_failed;
    row.update(spread_of_rounds(figures));
    result.push_back(std::move(row));
  }
  return result;
}

double ServeModes::busy_seconds() const {
  const Json stats = Json::parse(client_.get("/stats"), nullptr, false);
  return stats.is_object()
             ? stats.value("qwick_engine_busy_seconds_total", std::numeric_limits<double>::quiet_NaN())
             : std::numeric_limits<double>::quiet_NaN();
}

Json ServeModes::run_ablation_step(size_t index, uint64_t seed) {
  const AblationStep& step = kAblation.at(index);
  // Where nothing is to be reused no prompt may come twice, in case the server knows no use_cache.
  std::vector<Session> sessions;
  for (uint32_t i = 0; i < kGuideRequests; ++i) {
    std::string text = batch_prompts()[i % batch_prompts().size()];
    if (!step.use_cache) text = with_number(text, seed, i);
    sessions.push_back({true, "", {{std::move(text), options_.answer_tokens}}});
  }
  const LoadOptions load{.model = options_.model,
                         .stream = step.stream,
                         .extra = {{"use_cache", step.use_cache}},
                         .n_clients = step.n_clients};
  if (step.warm_up) run_load(client_, sessions, load);
  const double busy_before = busy_seconds();
  const Summary summary(run_load(client_, sessions, load));
  const double busy = (busy_seconds() - busy_before) / summary.seconds;
  if (summary.n() == 0) fail(ErrorCode::kIo, "{}: {}", client_.url(), summary.error);
  say_(fmt::format("{}: p50 {:.1f} ms, {:.1f} tok/s", step.name, percentile(summary.latency_ms, 0.5),
                   summary.tokens_per_s()));
  return {{"p50_ms", percentile(summary.latency_ms, 0.5)},
          {"first_text_ms", percentile(summary.first_token_ms, 0.5)},
          {"per_answer_ms", 1e3 * summary.seconds / static_cast<double>(summary.n())},
          {"tokens_per_s", summary.tokens_per_s()},
          {"compute_utilization", std::isnan(busy) ? Json(nullptr) : Json(100 * std::min(1.0, busy))}};
}

double ServeModes::conversation_seconds(bool use_cache, uint64_t seed) {
  const LoadResult result = run_load(client_, {chat_session(kChatTurns, seed)},
                                     {.model = options_.model, .extra = {{"use_cache", use_cache}}});
  if (const Summary summary(result); summary.n_failed > 0)
    fail(ErrorCode::kIo, "{}: {}", client_.url(), summary.error);
  return result.seconds;
}

Json ServeModes::ablation() {
  std::array<std::vector<Json>, kAblation.size()> rounds;
  std::vector<Json> conversations;
  for (uint32_t round = 0; round < options_.rounds; ++round) {
    say_(fmt::format("ablation, round {} of {}", round + 1, options_.rounds));
    const uint64_t seed = mix_bits(options_.seed + round);
    for (size_t i = 0; i < kAblation.size(); ++i) rounds.at(i).push_back(run_ablation_step(i, seed));
    const double without = conversation_seconds(false, seed);
    const double with = conversation_seconds(true, seed);
    say_(fmt::format("a conversation of {} turns: {:.0f} ms, with the cache {:.0f} ms", kChatTurns,
                     1e3 * without, 1e3 * with));
    conversations.push_back(
        {{"without_cache_ms", 1e3 * without}, {"with_cache_ms", 1e3 * with}, {"saved", 1 - with / without}});
  }
  Json steps = Json::array();
  for (size_t i = 0; i < kAblation.size(); ++i) {
    const AblationStep& step = kAblation.at(i);
    Json row = {{"step", step.name}};
    row.update(spread_of_rounds(rounds.at(i)));
    row["guide"] = nullptr;
    if (const auto& guide = step.guide)
      row["guide"] = {
          {"p50_ms", (*guide)[0]}, {"tokens_per_s", (*guide)[1]}, {"gpu_utilization", (*guide)[2]}};
    steps.push_back(std::move(row));
  }
  Json conversation = {{"turns", kChatTurns}};
  conversation.update(spread_of_rounds(conversations));
  return {{"answer_tokens", options_.answer_tokens}, {"steps", steps}, {"conversation", conversation}};
}

}  // namespace qwick
