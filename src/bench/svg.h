// The two kinds of chart that the report has, as SVG elements whose colours come from the page's style sheet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

// Text as it may stand in HTML and SVG, in attributes too.
std::string escaped(std::string_view text);

struct ChartValue {
  double median = 0;
  double low = 0;  // whiskers
  double high = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<std::optional<ChartValue>> values;  // one for each place of the axis; none: not measured
};

struct Chart {
  std::string title;
  std::string unit;                 // of the values
  std::string axis;                 // what the places are
  std::vector<std::string> places;  // along the axis, evenly
  std::vector<ChartSeries> series;  // six at most
};

std::string line_chart(const Chart& chart);
std::string bar_chart(const Chart& chart);

}  // namespace qwick
