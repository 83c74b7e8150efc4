#include "bench/tables.h"

#include <fmt/core.h>

namespace qwick {
namespace {

// "12.3 (11.0–14.2)": the median and what the rounds spread over; "-" where there is none.
std::string shown(const Json& figure, int decimals) {
  if (!figure.is_object()) return "-";
  const auto value = [&](const char* name) {
    return fmt::format("{:.{}f}", figure[name].get<double>(), decimals);
  };
  return fmt::format("{} ({}-{})", value("median"), value("min"), value("max"));
}

std::string guide_table(const Json& rows) {
  std::string text = fmt::format("\n20 times 你好\n{:<16}{:>22}{:>22}{:>22}{:>18}{:>18}\n", "", "p50 ms",
                                 "p95 ms", "first token ms", "requests/s", "tok/s");
  for (const Json& row : rows) {
    text += fmt::format("{:<16}{:>22}{:>22}{:>22}{:>18}{:>18}\n", row["case"].get<std::string>(),
                        shown(row["p50_ms"], 1), shown(row["p95_ms"], 1), shown(row["first_token_ms"], 1),
                        shown(row["requests_per_s"], 1), shown(row["tokens_per_s"], 0));
    if (row["n_failed"] != 0) text += fmt::format("  {} requests failed\n", row["n_failed"].get<size_t>());
  }
  return text;
}

std::string sweep_table(const Json& rows) {
  std::string text =
      fmt::format("\n{:<10}{:>10}{:>22}{:>24}{:>12}{:>20}{:>22}{:>8}\n", "workload", "clients", "tok/s",
                  "first token p50 ms", "p95 ms", "ms a token p50", "answer p50 ms", "good");
  for (const Json& row : rows) {
    const std::string clients = row["concurrency"].is_null()
                                    ? fmt::format("{:g}/s", row["rate_per_s"].get<double>())
                                    : row["concurrency"].dump();
    const Json& p95 = row["first_token_ms"]["p95"];
    text += fmt::format("{:<10}{:>10}{:>22}{:>24}{:>12}{:>20}{:>22}{:>6.0f} %\n",
                        row["workload"].get<std::string>(), clients, shown(row["tokens_per_s"], 1),
                        shown(row["first_token_ms"]["p50"], 0),
                        p95.is_object() ? fmt::format("{:.0f}", p95["median"].get<double>()) : "-",
                        shown(row["inter_token_ms"]["p50"], 1), shown(row["latency_ms"]["p50"], 0),
                        100 * row["good_share"]["median"].get<double>());
    if (row["n_failed"] != 0) text += fmt::format("  {} requests failed\n", row["n_failed"].get<size_t>());
  }
  return text;
}

std::string ablation_table(const Json& ablation) {
  std::string text = fmt::format("\n{:<26}{:>22}{:>20}{:>20}{:>20}   {}\n", "step", "p50 ms", "first text ms",
                                 "tok/s", "% computing", "the guide's GPU");
  for (const Json& step : ablation["steps"]) {
    const Json& guide = step["guide"];
    text += fmt::format(
        "{:<26}{:>22}{:>20}{:>20}{:>20}   {}\n", step["step"].get<std::string>(), shown(step["p50_ms"], 1),
        shown(step["first_text_ms"], 1), shown(step["tokens_per_s"], 0),
        shown(step["compute_utilization"], 0),
        guide.is_null() ? ""
                        : fmt::format("{} ms, {} tok/s, {} %", guide["p50_ms"].get<int>(),
                                      guide["tokens_per_s"].get<int>(), guide["gpu_utilization"].get<int>()));
  }
  const Json& conversation = ablation["conversation"];
  text += fmt::format(
      "a conversation of {} turns: {} ms; with its cache {} ms: {:.0f} % saved (the guide: 30-50 %)\n",
      conversation["turns"].get<int>(), shown(conversation["without_cache_ms"], 0),
      shown(conversation["with_cache_ms"], 0), 100 * conversation["saved"]["median"].get<double>());
  return text;
}

}  // namespace

std::string text_tables(const Json& results) {
  std::string text;
  if (results.contains("guide")) text += guide_table(results["guide"]);
  if (results.contains("sweep")) text += sweep_table(results["sweep"]);
  if (results.contains("ablation")) text += ablation_table(results["ablation"]);
  text += "\nMedians of the rounds, with the least and the most.\n";
  return text;
}

}  // namespace qwick
