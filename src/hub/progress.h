// How far a download is, told on stderr: a line that is drawn again and again on a terminal; elsewhere
// nothing, for the log has its beginning and its end. Counts from any thread; drawn by one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace qwick {

class Progress {
 public:
  Progress(std::string title, uint64_t n_total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // ends the line

  void add(uint64_t n_bytes) { n_done_.fetch_add(n_bytes, std::memory_order_relaxed); }
  // Bytes that need no fetching: an earlier run or another process did.
  void skip(uint64_t n_bytes);
  // `activity`: what is done besides fetching, such as "checking"; "": nothing.
  void draw(const std::string& activity);

 private:
  const std::string title_;
  const uint64_t n_total_;
  const bool is_terminal_;
  std::atomic<uint64_t> n_done_{0};
  std::atomic<uint64_t> n_skipped_{0};  // of n_done_
  std::chrono::steady_clock::time_point start_;
};

// "1.5 GB", as disks are sold.
std::string byte_text(uint64_t n_bytes);

}  // namespace qwick
