#include "bench/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/svg.h"

namespace qwick {
namespace {

// Series colours are those of Okabe and Ito, made for all kinds of colour vision (jfly.uni-koeln.de/color).
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2530; --soft: #5f6b7a; --line: #e3e7ec; --page: #fbfcfd; --card: #ffffff;
  --good: #00704f; --c0: #0072B2; --c1: #D55E00; --c2: #009E73; --c3: #CC79A7; --c4: #B58900; --c5: #56B4E9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #2c3440; --page: #11161d;
  --card: #171d26; --good: #4fc79d; --c0: #56B4E9; --c4: #E69F00; --c5: #F0E442; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 40px 24px 64px; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 56px 0 4px; }
p { margin: 6px 0; color: var(--soft); max-width: 68ch; }
code { font: 13px/1.5 ui-monospace, "SF Mono", Consolas, monospace; color: var(--ink); overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(148px, 1fr)); gap: 14px; margin: 28px 0 20px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px; }
.tile b { display: block; font-size: 28px; line-height: 1.2; font-weight: 650; white-space: nowrap; }
.tile b small { font-size: 15px; font-weight: 500; color: var(--soft); }
.tile span { display: block; font-size: 13px; line-height: 1.4; color: var(--soft); margin-top: 4px; }
.tile span.met { color: var(--good); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 18px; margin: 18px 0; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 16px 8px;
  break-inside: avoid; }
figcaption { font-weight: 600; font-size: 15px; }
.legend { font-size: 13px; margin: 4px 0 0; }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 5px 0 10px; }
.legend .key:first-child { margin-left: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; }
svg .value { fill: var(--ink); }
.grid { stroke: var(--line); } .whisker { stroke: var(--soft); stroke-width: 1.5; opacity: 0.7; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.s0 { --c: var(--c0); } .s1 { --c: var(--c1); } .s2 { --c: var(--c2); } .s3 { --c: var(--c3); } .s4 { --c: var(--c4); }
.s5 { --c: var(--c5); } .key { background: var(--c); } .line { stroke: var(--c); } .dot, .bar { fill: var(--c); }
.scroll { overflow-x: auto; margin: 14px 0; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: right; padding: 7px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; color: var(--soft); font-size: 13px; } th:first-child, td:first-child { text-align: left; }
td small { display: block; color: var(--soft); font-size: 11px; line-height: 1.2; }
footer { margin-top: 56px; font-size: 14px; }
@media print { body { max-width: none; padding: 0; background: none; } h2 { break-after: avoid; } }
)";

constexpr std::string_view kNone = "–";

const Json& member(const Json& json, std::string_view name) {
  static const Json null;
  if (!json.is_object()) return null;
  const auto found = json.find(name);
  return found == json.end() ? null : *found;
}

// {"median", "min", "max"}, or a number that was measured once.
std::optional<ChartValue> figure(const Json& json) {
  if (json.is_number()) return ChartValue{json.get<double>(), json.get<double>(), json.get<double>()};
  const Json& median = member(json, "median");
  const Json& low = member(json, "min");
  const Json& high = member(json, "max");
  if (!median.is_number() || !low.is_number() || !high.is_number()) return std::nullopt;
  return ChartValue{median.get<double>(), low.get<double>(), high.get<double>()};
}

std::string text_of(const Json& json) {
  return json.is_string() ? escaped(json.get_ref<const std::string&>()) : std::string(kNone);
}

std::string number_of(const Json& json) {
  return json.is_number() ? fmt::format("{:.6g}", json.get<double>()) : std::string(kNone);
}

// Three digits, as far as they go.
std::string shown(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

std::string cell(const std::optional<ChartValue>& value, double scale = 1) {
  if (!value) return std::string(kNone);
  std::string html = shown(scale * value->median);
  if (value->high > value->low)
    html += fmt::format("<small>{}–{}</small>", shown(scale * value->low), shown(scale * value->high));
  return html;
}

std::string row(const std::vector<std::string>& cells, std::string_view tag) {
  std::string html = "<tr>";
  for (const std::string& text : cells) html += fmt::format("<{0}>{1}</{0}>", tag, text);
  return html + "</tr>\n";
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\"><table>\n" + row(head, "th");
  for (const auto& cells : rows) html += row(cells, "td");
  return html + "</table></div>\n";
}

// A headline figure; `target` is what the guide asks of a GPU.
std::string tile(const std::optional<ChartValue>& value, std::string_view unit, std::string_view what,
                 std::string_view target = "", bool is_met = false) {
  if (!value) return "";
  std::string html = fmt::format("<div class=\"tile\"><b>{} <small>{}</small></b><span>{}</span>",
                                 shown(value->median), unit, what);
  if (!target.empty())
    html += fmt::format("<span{}>the guide, on a GPU: {}</span>", is_met ? " class=\"met\"" : "", target);
  return html + "</div>\n";
}

std::string tiles(const Json& results) {
  constexpr double kGuideP50 = 80;       // ms
  constexpr double kGuideRate = 120;     // tokens a second
  constexpr double kGuideMemory = 1800;  // MB
  std::string html;
  if (const Json& guide = member(results, "guide"); guide.is_array() && !guide.empty()) {
    const Json& as_is = guide.front();
    const auto p50 = figure(member(as_is, "p50_ms"));
    html += tile(p50, "ms",
                 fmt::format("answer of {} tokens to 你好, p50", number_of(member(as_is, "answer_tokens"))),
                 "below 80 ms", p50 && p50->median < kGuideP50);
    html += tile(figure(member(as_is, "first_token_ms")), "ms", "until its first token");
    const auto rate = figure(member(as_is, "decode_tokens_per_s"));
    html += tile(rate, "tok/s", "one answer at a time", "above 120 tok/s", rate && rate->median > kGuideRate);
  }
  if (const Json& sweep = member(results, "sweep"); sweep.is_array()) {
    const Json* best = nullptr;
    std::optional<ChartValue> best_rate;
    for (const Json& one : sweep) {
      const auto rate = figure(member(one, "tokens_per_s"));
      if (!rate || (best_rate && rate->median <= best_rate->median)) continue;
      best = &one;
      best_rate = rate;
    }
    if (best != nullptr) {
      const Json& n = member(*best, "concurrency");
      html += tile(best_rate, "tok/s",
                   n.is_number()
                       ? fmt::format("{} clients at once, {}", n.dump(), text_of(member(*best, "workload")))
                       : "at most in the sweep");
    }
  }
  const Json& server = member(results, "server");
  auto memory = figure(member(server, "resident_mib"));
  html += tile(memory, "MiB", "resident memory", "below 1.8 GB",
               memory && memory->median * 1.048576 < kGuideMemory);
  html += tile(figure(member(server, "ready_ms")), "ms", "from start to ready");
  return html.empty() ? "" : "<div class=\"tiles\">\n" + html + "</div>\n";
}

std::string about(const Json& results) {
  const Json& machine = member(results, "machine");
  const Json& server = member(results, "server");
  std::string html = fmt::format("<p>{}", text_of(member(server, "name")));
  if (member(server, "dtype").is_string())
    html += fmt::format(", weights in {}", text_of(member(server, "dtype")));
  html += fmt::format(", on {}", text_of(member(machine, "processor")));
  if (machine.is_object()) {
    const auto part = [&](std::string_view name, std::string_view format_before, std::string_view after) {
      const auto value = figure(member(machine, name));
      return value ? fmt::format("{}{}{}", format_before, shown(value->median), after) : std::string();
    };
    html += fmt::format(" ({}), {} threads", text_of(member(machine, "isa")),
                        number_of(member(machine, "threads")));
    html += part("read_gb_per_s", "; when the run began it read ", " GB/s") +
            part("int8_gmac_per_s", " and multiplied ", " G int8/s");
  }
  html += ".</p>\n";
  html += fmt::format(
      "<p>{}; {} rounds, of which the median is shown, and small the least and the most. Again with:</p>\n"
      "<p><code>{}</code></p>\n",
      text_of(member(results, "date")), number_of(member(results, "rounds")),
      text_of(member(results, "command")));
  return html;
}

std::string guide_section(const Json& guide) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& one : guide) {
    std::vector<std::string> cells{text_of(member(one, "case"))};
    for (const char* name : {"p50_ms", "p95_ms", "mean_ms", "min_ms", "max_ms", "first_token_ms",
                             "requests_per_s", "tokens_per_s"})
      cells.push_back(cell(figure(member(one, name))));
    rows.push_back(std::move(cells));
  }
  return "<h2>Twenty times 你好</h2>\n<p>The guide's own benchmark: one request after another. “As is” "
         "repeats the same "
         "prompt, which is in the cache then; “each prompt new” puts another number before it.</p>\n" +
         table(
             {"", "p50 ms", "p95 ms", "mean ms", "min ms", "max ms", "first token ms", "requests/s", "tok/s"},
             rows);
}

// The sweep's rows as lines of one figure, a line for each workload.
struct SweepAxis {
  std::string_view place;  // the field that is along the axis
  std::string_view label;
};
std::optional<Chart> sweep_chart(const Json& sweep, const SweepAxis& axis, std::string title,
                                 std::string unit, const auto& take) {
  constexpr size_t kMaxSeries = 6;
  Chart chart{std::move(title), std::move(unit), std::string(axis.label), {}, {}};
  std::vector<double> places;
  for (const Json& one : sweep) {
    const Json& place = member(one, axis.place);
    if (place.is_number()) places.push_back(place.get<double>());
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.empty()) return std::nullopt;
  for (const double place : places) chart.places.push_back(fmt::format("{:g}", place));
  for (const Json& one : sweep) {
    const Json& place = member(one, axis.place);
    if (!place.is_number()) continue;
    const Json& workload = member(one, "workload");
    const std::string name = workload.is_string() ? workload.get<std::string>() : "";
    auto found =
        std::find_if(chart.series.begin(), chart.series.end(), [&](const auto& s) { return s.name == name; });
    if (found == chart.series.end()) {
      if (chart.series.size() == kMaxSeries) continue;
      chart.series.push_back({name, std::vector<std::optional<ChartValue>>(places.size())});
      found = chart.series.end() - 1;
    }
    const auto at = std::lower_bound(places.begin(), places.end(), place.get<double>()) - places.begin();
    found->values[static_cast<size_t>(at)] = take(one);
  }
  return chart;
}

std::string sweep_section(const Json& sweep, const Json& slo) {
  constexpr SweepAxis kClients{"concurrency", "clients at once"};
  constexpr SweepAxis kRate{"rate_per_s", "requests a second, at random times"};
  const auto plain = [](const char* name) {
    return [name](const Json& one) { return figure(member(one, name)); };
  };
  const auto p50 = [](const char* name) {
    return [name](const Json& one) { return figure(member(member(one, name), "p50")); };
  };
  const auto p95 = [](const char* name) {
    return [name](const Json& one) { return figure(member(member(one, name), "p95")); };
  };
  std::string charts;
  const auto add = [&](const std::optional<Chart>& chart) {
    if (chart) charts += line_chart(*chart);
  };
  add(sweep_chart(sweep, kClients, "Tokens a second, all clients together", "tok/s", plain("tokens_per_s")));
  add(sweep_chart(sweep, kClients, "First token, median", "ms", p50("first_token_ms")));
  add(sweep_chart(sweep, kClients, "First token, 95th percentile", "ms", p95("first_token_ms")));
  add(sweep_chart(sweep, kClients, "Time for each token after that, median", "ms", p50("inter_token_ms")));
  add(sweep_chart(sweep, kRate, "Goodput: answers in time, a second", "1/s", plain("goodput_per_s")));
  add(sweep_chart(sweep, kRate, "First token at these rates, 95th percentile", "ms", p95("first_token_ms")));

  std::vector<std::vector<std::string>> rows;
  for (const Json& one : sweep) {
    const Json& n = member(one, "concurrency");
    const Json& rate = member(one, "rate_per_s");
    std::vector<std::string> cells{
        text_of(member(one, "workload")),
        rate.is_number() ? fmt::format("{:g}/s", rate.get<double>()) : number_of(n),
        cell(figure(member(one, "tokens_per_s")))};
    for (const char* name : {"first_token_ms", "inter_token_ms", "latency_ms"}) {
      for (const char* share : {"p50", "p95"})
        cells.push_back(cell(figure(member(member(one, name), share))));
    }
    cells.push_back(cell(figure(member(one, "good_share")), 100));
    const Json& failed = member(one, "n_failed");
    cells.push_back(failed.is_number() && failed != 0 ? failed.dump() : "");
    rows.push_back(std::move(cells));
  }
  return "<h2>By workload and load</h2>\n<p>“128/128” is a prompt of 128 tokens that no cache has seen, and "
         "an answer of "
         "128; “chat” is conversations of six turns. Lines go through medians, bars show how far the rounds "
         "spread. An answer is good whose first token came within " +
         number_of(member(slo, "first_token_ms")) + " ms and whose others took at most " +
         number_of(member(slo, "inter_token_ms")) +
         " ms each.</p>\n"
         "<div class=\"charts\">\n" +
         charts + "</div>\n" +
         table({"workload", "clients", "tok/s", "first token p50 ms", "p95", "a token p50 ms", "p95",
                "answer p50 ms", "p95", "good %", "failed"},
               rows);
}

std::string ablation_section(const Json& ablation) {
  const Json& steps = member(ablation, "steps");
  const auto chart = [&](const char* title, const char* unit, const char* field, const char* guide_field) {
    Chart made{title, unit, "", {}, {{"here", {}}, {"the guide's GPU", {}}}};
    for (const Json& step : steps) {
      const Json& name = member(step, "step");
      std::string place = name.is_string() ? name.get<std::string>() : "";
      if (const size_t end = place.find(" and "); end != std::string::npos) place.resize(end);
      made.places.push_back(place);
      made.series[0].values.push_back(figure(member(step, field)));
      made.series[1].values.push_back(figure(member(member(step, "guide"), guide_field)));
    }
    return bar_chart(made);
  };
  std::string html =
      "<h2>What each step brings</h2>\n<p>The guide's steps, each on top of the one before, with its "
      "prompts; beside it what the guide saw on a GPU.</p>\n";
  if (steps.is_array() && !steps.empty()) {
    html += "<div class=\"charts\">\n" + chart("Whole answer, p50", "ms", "p50_ms", "p50_ms") +
            chart("Tokens a second", "tok/s", "tokens_per_s", "tokens_per_s") + "</div>\n";
    std::vector<std::vector<std::string>> rows;
    for (const Json& step : steps) {
      std::vector<std::string> cells{text_of(member(step, "step"))};
      for (const char* name :
           {"p50_ms", "first_text_ms", "per_answer_ms", "tokens_per_s", "compute_utilization"})
        cells.push_back(cell(figure(member(step, name))));
      rows.push_back(std::move(cells));
    }
    html += table({"", "p50 ms", "first text ms", "ms an answer", "tok/s", "computing %"}, rows);
  }
  const Json& conversation = member(ablation, "conversation");
  if (const auto saved = figure(member(conversation, "saved"))) {
    html += fmt::format(
        "<p>A conversation of {} turns takes {} ms without the cache and {} ms with it: <b>{:.0f} % "
        "saved</b>. The guide says 30–50 %.</p>\n",
        number_of(member(conversation, "turns")),
        shown(figure(member(conversation, "without_cache_ms")).value_or(ChartValue{}).median),
        shown(figure(member(conversation, "with_cache_ms")).value_or(ChartValue{}).median),
        100 * saved->median);
  }
  return html;
}

}  // namespace

std::string report_html(const Json& results) {
  const std::string model = text_of(member(member(results, "server"), "model"));
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
      "charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{0}: how fast it "
      "answers</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}: how fast it answers</h1>\n",
      model, kStyle);
  html += about(results) + tiles(results);
  if (const Json& guide = member(results, "guide"); guide.is_array()) html += guide_section(guide);
  if (const Json& sweep = member(results, "sweep"); sweep.is_array())
    html += sweep_section(sweep, member(results, "slo"));
  if (const Json& ablation = member(results, "ablation"); ablation.is_object())
    html += ablation_section(ablation);
  return html +
         "<footer><p>Written by <code>qwick bench serve --report</code>.</p></footer>\n</body>\n</html>\n";
}

}  // namespace qwick
