#include "bench/report.h"

#include <gtest/gtest.h>

#include "bench/figures.h"

namespace qwick {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Json row(int n_clients, double rate) {
  const Json three = {{"p50", spread({1, 2, 3})}, {"p95", spread({4})}, {"p99", nullptr}};
  return {{"workload", "128/128"},       {"concurrency", n_clients},
          {"rate_per_s", nullptr},       {"tokens_per_s", spread({rate, rate, rate + 5})},
          {"first_token_ms", three},     {"inter_token_ms", three},
          {"latency_ms", three},         {"goodput_per_s", spread({1})},
          {"good_share", spread({0.5})}, {"n_failed", 2}};
}

TEST(Report, ShowsWhatIsThere) {
  Json results = {{"server", {{"model", "m"}, {"resident_mib", 512.4}}},
                  {"sweep", {row(1, 70), row(8, 250)}}};
  const std::string html = report_html(results);
  EXPECT_NE(html.find(">250 <small>tok/s"), std::string::npos);  // the best of the sweep, as a tile
  EXPECT_NE(html.find("8 clients at once, 128/128"), std::string::npos);
  EXPECT_NE(html.find("512 <small>MiB"), std::string::npos);
  EXPECT_NE(html.find("250<small>250–255</small>"), std::string::npos);
  EXPECT_EQ(count(html, "<figure>"), 4U);  // no rates, so no charts of them
  EXPECT_EQ(html.find("Twenty times"), std::string::npos);
  EXPECT_EQ(html.find("What each step brings"), std::string::npos);

  results["sweep"] = Json::array();
  results["guide"] = Json::parse(R"([{"case": "as is", "p50_ms": {"median": 79, "min": 70, "max": 90}}])");
  const std::string guide = report_html(results);
  EXPECT_NE(guide.find("Twenty times"), std::string::npos);
  EXPECT_NE(guide.find("class=\"met\""), std::string::npos);
}

TEST(Report, SurvivesAnything) {
  for (const char* text : {"{}", "[]", "null", R"({"guide": [], "sweep": [], "ablation": {}})",
                           R"({"guide": [null], "sweep": [1], "ablation": {"steps": [3]}})",
                           R"({"guide": {"a": 1}, "sweep": "x", "ablation": [], "machine": 5, "server": []})",
                           R"({"sweep": [{"concurrency": "x", "tokens_per_s": {"median": null}}]})"}) {
    const std::string html = report_html(Json::parse(text));
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n")) << text;
  }
}

TEST(Report, EscapesWhatItIsGiven) {
  const std::string bad = "<script>alert('\"&\x01')</script>";
  Json results = {
      {"command", bad},
      {"date", bad},
      {"rounds", bad},
      {"server", {{"name", bad}, {"model", bad}, {"dtype", bad}}},
      {"machine", {{"processor", bad}, {"isa", bad}, {"threads", bad}}},
      {"guide", {{{"case", bad}, {"answer_tokens", bad}}}},
      {"ablation", {{"steps", {{{"step", bad}}}}, {"conversation", {{"turns", bad}, {"saved", 0.5}}}}}};
  results["sweep"] = {row(1, 70)};
  results["sweep"][0]["workload"] = bad;
  const std::string html = report_html(results);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_GT(count(html, "&lt;script&gt;alert('&quot;&amp; ')"), 8U);
}

TEST(Figures, PercentilesAreNearestRanks) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.99), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.51), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
}

TEST(Figures, RoundsBecomeSpreads) {
  const Json joined = spread_of_rounds({Json::parse(R"({"a": 1, "b": {"c": null}})"),
                                        Json::parse(R"({"a": 3, "b": {"c": 5}})"),
                                        Json::parse(R"({"a": 2, "b": {"c": null}})")});
  EXPECT_EQ(
      joined,
      Json::parse(
          R"({"a": {"median": 2.0, "min": 1.0, "max": 3.0}, "b": {"c": {"median": 5.0, "min": 5.0, "max": 5.0}}})"));
  EXPECT_TRUE(spread({}).is_null());
  EXPECT_EQ(spread({4, 1, 2, 9}), Json::parse(R"({"median": 3.0, "min": 1.0, "max": 9.0})"));
}

}  // namespace
}  // namespace qwick
