#include "bench/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace qwick {
namespace {

// Of the whole drawing, and of the plot in it, in its own units.
constexpr double kWidth = 460;
constexpr double kHeight = 250;
constexpr double kLeft = 52;
constexpr double kRight = 448;
constexpr double kTop = 34;
constexpr double kBottom = 204;

// 1, 2 or 5 times a power of ten: about four of them up to `most`.
double tick_distance(double most) {
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= rough) return step * power;
  }
  return 10 * power;
}

// A chart's frame: title, axes and ticks; and where values and places are in it.
class Frame {
 public:
  explicit Frame(const Chart& chart) : n_places_(static_cast<double>(chart.places.size())) {
    double most = 0;
    for (const ChartSeries& series : chart.series) {
      for (const auto& value : series.values) {
        if (value) most = std::max({most, value->median, value->high});
      }
    }
    const double step = tick_distance(most > 0 ? most : 1);
    top_ = step * std::ceil((most > 0 ? most : 1) / step);
    svg_ = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n<text class=\"unit\" x=\"{}\" y=\"20\" "
        "text-anchor=\"end\">{}</text>\n",
        kWidth, kHeight, escaped(chart.title), kLeft - 8, escaped(chart.unit));
    for (int i = 0; i <= static_cast<int>(std::lround(top_ / step)); ++i) {
      const double value = i * step;
      svg_ += fmt::format(
          "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"tick\" x=\"{}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{:.6g}</text>\n",
          kLeft, y(value), kRight, kLeft - 8, y(value) + 4, value);
    }
    for (size_t i = 0; i < chart.places.size(); ++i) {
      svg_ += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                          x(i), kBottom + 18, escaped(chart.places[i]));
    }
    svg_ += fmt::format("<text class=\"unit\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        (kLeft + kRight) / 2, kBottom + 38, escaped(chart.axis));
  }

  double place_width() const { return (kRight - kLeft) / n_places_; }
  double x(size_t place) const { return kLeft + (static_cast<double>(place) + 0.5) * place_width(); }
  double y(double value) const { return kBottom - (kBottom - kTop) * value / top_; }

  void add(const std::string& element) { svg_ += element; }
  void add_whisker(double at, const ChartValue& value) {
    if (value.high > value.low) {
      add(fmt::format("<path class=\"whisker\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at, y(value.low),
                      y(value.high)));
    }
  }
  std::string end() { return std::move(svg_) + "</svg>\n"; }

 private:
  double n_places_;
  double top_ = 1;
  std::string svg_;
};

// The names of the series with their colours, and the title, above the drawing.
std::string with_caption(const Chart& chart, const std::string& drawing) {
  std::string html = fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escaped(chart.title));
  if (chart.series.size() > 1) {
    html += "<p class=\"legend\">";
    for (size_t i = 0; i < chart.series.size(); ++i)
      html += fmt::format("<span class=\"key s{}\"></span>{} ", i, escaped(chart.series[i].name));
    html += "</p>\n";
  }
  return html + drawing + "</figure>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      // No XML takes control characters, not even escaped.
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string line_chart(const Chart& chart) {
  Frame frame(chart);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const auto& values = chart.series[i].values;
    std::string path;
    for (size_t place = 0; place < values.size(); ++place) {
      const std::optional<ChartValue>& value = values[place];
      if (!value) continue;
      frame.add_whisker(frame.x(place), *value);
      path +=
          fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", frame.x(place), frame.y(value->median));
    }
    frame.add(fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n", i, path));
    for (size_t place = 0; place < values.size(); ++place) {
      const std::optional<ChartValue>& value = values[place];
      if (!value) continue;
      frame.add(fmt::format("<circle class=\"dot s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>", i,
                            frame.x(place), frame.y(value->median)));
    }
  }
  return with_caption(chart, frame.end());
}

std::string bar_chart(const Chart& chart) {
  Frame frame(chart);
  const auto n = static_cast<double>(chart.series.size());
  const double width = std::min(26.0, 0.8 * frame.place_width() / n);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const auto& values = chart.series[i].values;
    for (size_t place = 0; place < values.size(); ++place) {
      const std::optional<ChartValue>& value = values[place];
      if (!value) continue;
      const double middle = frame.x(place) + (static_cast<double>(i) - (n - 1) / 2) * (width + 2);
      const double y = frame.y(value->median);
      frame.add(fmt::format(
          "<rect class=\"bar s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", i,
          middle - width / 2, y, width, kBottom - y));
      frame.add_whisker(middle, *value);
      frame.add(fmt::format(
          "<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n", middle,
          frame.y(std::max(value->median, value->high)) - 5, value->median));
    }
  }
  return with_caption(chart, frame.end());
}

}  // namespace qwick
