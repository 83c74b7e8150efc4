// `qwick bench serve`: how fast a server answers over HTTP. Any server that speaks the OpenAI API, or one of
// our own that runs for as long as the measurement.
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "bench/machine.h"
#include "bench/report.h"
#include "bench/serve_modes.h"
#include "bench/stream_client.h"
#include "bench/tables.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/server_process.h"
#include "version.h"

namespace qwick::cli {
namespace {

std::vector<std::string> serve_arguments(const Options& options) {
  std::vector<std::string> arguments;
  if (!options.model.empty()) arguments.push_back(options.model);
  const auto pass = [&](const char* flag, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {flag, value});
  };
  pass("--served-model-name", options.model_name);
  pass("--dtype", options.dtype);
  pass("--packed", options.packed);
  pass("--ctx", std::to_string(options.ctx));
  pass("--kv-cache-mib", std::to_string(options.kv_cache_mib));
  pass("--kv-type", options.kv_type);
  pass("--max-batch", std::to_string(options.max_batch));
  pass("--threads", std::to_string(options.threads));
  pass("--chat-template", options.chat_template);
  return arguments;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

template <typename T>
std::string joined(const std::vector<T>& numbers) {
  std::string list;
  for (const T& number : numbers) list += fmt::format("{}{}", list.empty() ? "" : ",", number);
  return list;
}

ServeOptions bench_options(const Options& options) {
  ServeOptions made;
  made.model = options.model_name;
  made.rounds = options.rounds;
  made.seed = options.seed;
  made.answer_tokens = options.answer_tokens;
  made.workloads = split(options.workloads);
  if (!options.dataset.empty()) made.file_sessions = read_sessions(options.dataset);
  for (const int32_t n : options.concurrency) {
    if (n < 1) fail(ErrorCode::kInvalidArgument, "--concurrency must be 1 or more");
    made.concurrency.push_back(static_cast<uint32_t>(n));
  }
  for (const double rate : options.rates) {
    if (!(rate > 0)) fail(ErrorCode::kInvalidArgument, "--rates must be above 0");
    made.rates.push_back(rate);
  }
  if (made.workloads.empty()) fail(ErrorCode::kInvalidArgument, "--workloads is empty");
  if (made.rounds == 0) fail(ErrorCode::kInvalidArgument, "--rounds must be 1 or more");
  if (made.answer_tokens == 0) fail(ErrorCode::kInvalidArgument, "--answer-tokens must be 1 or more");
  made.requests = options.requests;
  made.slo_first_token_ms = options.slo_first_token;
  made.slo_inter_token_ms = options.slo_inter_token;
  return made;
}

// The command again, without what is as it always is.
std::string command_line(const Options& options) {
  const Options usual;
  std::string line = "qwick bench serve";
  const auto add = [&](const char* flag, const auto& value, const auto& otherwise) {
    if (value != otherwise) line += fmt::format(" {}{}{}", flag, *flag == '\0' ? "" : " ", value);
  };
  add("", options.model, usual.model);
  add("--url", options.url, usual.url);
  add("--mode", options.mode, usual.mode);
  add("--model-name", options.model_name, usual.model_name);
  add("--dtype", options.dtype, usual.dtype);
  add("--ctx", options.ctx, usual.ctx);
  add("--kv-cache-mib", options.kv_cache_mib, usual.kv_cache_mib);
  add("--kv-type", options.kv_type, usual.kv_type);
  add("--max-batch", options.max_batch, usual.max_batch);
  add("--threads", options.threads, usual.threads);
  add("--rounds", options.rounds, usual.rounds);
  add("--seed", options.seed, usual.seed);
  add("--answer-tokens", options.answer_tokens, usual.answer_tokens);
  if (options.mode == "sweep" || options.mode == "all") {
    add("--workloads", options.workloads, usual.workloads);
    add("--dataset", options.dataset, usual.dataset);
    add("--concurrency", joined(options.concurrency), joined(usual.concurrency));
    add("--rates", joined(options.rates), joined(usual.rates));
    add("--requests", options.requests, usual.requests);
    add("--slo-first-token", options.slo_first_token, usual.slo_first_token);
    add("--slo-inter-token", options.slo_inter_token, usual.slo_inter_token);
  }
  return line;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// What a server of ours says of itself; others are unknown.
Json describe_server(const StreamClient& client, const Options& options) {
  Json server = {{"name", "unknown"},      {"url", client.url()}, {"model", options.model_name},
                 {"dtype", nullptr},       {"isa", nullptr},      {"ready_ms", nullptr},
                 {"resident_mib", nullptr}};
  const Json version = Json::parse(client.get("/version"), nullptr, false);
  if (!version.is_object() || !version.contains("isa")) return server;
  server["name"] = "qwick " + version.value("version", "");
  server["model"] = version.value("model", options.model_name);
  server["dtype"] = version.value("dtype", "");
  server["isa"] = version.value("isa", "");
  return server;
}

}  // namespace

int bench_serve(const Options& options) {
  const bool all = options.mode == "all";
  if (!all && options.mode != "guide" && options.mode != "sweep" && options.mode != "ablation") {
    fail(ErrorCode::kInvalidArgument, "--mode: \"{}\" is none of guide, sweep, ablation, all", options.mode);
  }
  ServeOptions made = bench_options(options);
  std::optional<NewFile> report;  // before the measurements: a path that can't be written is known at once
  if (!options.report.empty()) report.emplace(options.report);
  const Machine machine = measure_machine(n_threads(options));
  const auto say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  say(to_line(machine));

  std::unique_ptr<ServerProcess> own;
  if (options.url.empty()) own = std::make_unique<ServerProcess>(serve_arguments(options));
  StreamClient client(own ? own->url() : options.url,
                      options.api_keys.empty() ? "" : options.api_keys.front());
  Json results = {
      {"format", 1},
      {"command", command_line(options)},
      {"date", now_utc()},
      {"seed", options.seed},
      {"rounds", options.rounds},
      {"machine", to_json(machine)},
      {"server", describe_server(client, options)},
      {"slo", {{"first_token_ms", options.slo_first_token}, {"inter_token_ms", options.slo_inter_token}}}};
  ServeModes bench(client, std::move(made), say);
  if (all || options.mode == "guide") results["guide"] = bench.guide();
  if (all || options.mode == "sweep") results["sweep"] = bench.sweep();
  if (all || options.mode == "ablation") results["ablation"] = bench.ablation();
  if (own) {
    results["server"]["ready_ms"] = 1e3 * own->ready_seconds();
    results["server"]["resident_mib"] = resident_mib(own->pid());
  }
  if (report) {
    const std::string page = report_html(results);
    report->write(std::as_bytes(std::span(page)));
    report->commit();
    say(fmt::format("the report is in {}", options.report));
  }
  if (options.json) {
    fmt::print("{}\n", results.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}\n{}", to_line(machine), text_tables(results));
  }
  return 0;
}

}  // namespace qwick::cli
