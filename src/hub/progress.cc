#include "hub/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace qwick {
namespace {

constexpr int kBarWidth = 24;
constexpr const char* kClearLine = "\r\x1b[K";

size_t terminal_width() {
  struct winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<uint64_t>(std::min(seconds, 359999.0));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string byte_text(uint64_t n_bytes) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
  if (n_bytes < 1000) return fmt::format("{} bytes", n_bytes);
  double n = static_cast<double>(n_bytes) / 1000;
  size_t unit = 0;
  for (; n >= 999.5 && unit < 3; ++unit) n /= 1000;
  return fmt::format("{:.{}f} {}", n, n < 10 ? 1 : 0, kUnits[unit]);
}

Progress::Progress(std::string title, uint64_t n_total)
    : title_(std::move(title)),
      n_total_(n_total),
      is_terminal_(::isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (is_terminal_) std::fputs(kClearLine, stderr);
}

void Progress::skip(uint64_t n_bytes) {
  n_skipped_.fetch_add(n_bytes, std::memory_order_relaxed);
  add(n_bytes);
}

void Progress::draw(const std::string& activity) {
  if (!is_terminal_ || n_total_ == 0) return;
  const uint64_t n_done = std::min(n_done_.load(std::memory_order_relaxed), n_total_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double speed =
      static_cast<double>(n_done - std::min(n_done, n_skipped_.load(std::memory_order_relaxed))) /
      std::max(elapsed.count(), 1e-3);
  const double share = static_cast<double>(n_done) / static_cast<double>(n_total_);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < static_cast<int>(share * kBarWidth) ? '#' : '.';
  std::string line = fmt::format("{} [{}] {:.0f} % of {}", title_, bar, 100 * share, byte_text(n_total_));
  if (!activity.empty()) {
    line += ", " + activity;
  } else if (speed > 0) {
    line += fmt::format(", {}/s, {} left", byte_text(static_cast<uint64_t>(speed)),
                        time_text(static_cast<double>(n_total_ - n_done) / speed));
  }
  fmt::print(stderr, "{}{}", kClearLine, line.substr(0, terminal_width() - 1));
  std::fflush(stderr);
}

}  // namespace qwick
