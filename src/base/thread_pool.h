// Fork and join over a fixed set of threads. The caller is worker 0; the others sleep between
// loops. One owner: parallel_for is called by one thread at a time and never from inside a body.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace qwick {

class ThreadPool {
 public:
  // n_threads counts the caller: 1 or more.
  explicit ThreadPool(int n_threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int n_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(worker, begin, end) on every worker with its share of [0, n): contiguous, the same
  // split for the same n. Returns when all are done; what they wrote is visible. Bodies don't throw.
  template <typename Body>
  void parallel_for(size_t n, Body&& body) noexcept {
    static_assert(std::is_invocable_v<Body, int, size_t, size_t>);
    run(n, [](void* context, int worker, size_t begin, size_t end) noexcept {
      (*static_cast<std::remove_reference_t<Body>*>(context))(worker, begin, end);
    }, const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Task = void (*)(void* context, int worker, size_t begin, size_t end) noexcept;

  void run(size_t n, Task task, void* context) noexcept;
  void work(int worker) noexcept;
  void run_share(int worker) noexcept;

  Task task_ = nullptr;
  void* context_ = nullptr;
  size_t n_ = 0;
  std::atomic<uint32_t> generation_{0};  // one more: a new loop, or the end when stop_
  std::atomic<uint32_t> n_busy_{0};
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace qwick
