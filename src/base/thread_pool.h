// A fixed set of threads that work on one thing together. The caller is worker 0; the others spin a
// moment for more work, then sleep: between the steps of a busy engine they answer at once, and an idle
// one burns nothing. One owner: run() is called by one thread at a time and never from inside a body.
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

  // Calls body(worker) on every worker; returns when all are done. What they wrote is visible then.
  // Bodies don't throw.
  template <typename Body>
  void run(Body&& body) noexcept {
    static_assert(std::is_invocable_v<Body, int>);
    run_task([](void* context,
                int worker) noexcept { (*static_cast<std::remove_reference_t<Body>*>(context))(worker); },
             const_cast<void*>(static_cast<const void*>(&body)));
  }

  // Inside a body: waits until all workers have come this far.
  void barrier() noexcept;

  // The part of [0, n) that is a worker's: contiguous, the same for the same n.
  struct Range {
    size_t begin, end;
  };
  Range share(size_t n, int worker) const {
    const size_t n_workers = threads_.size() + 1;
    return {n * static_cast<size_t>(worker) / n_workers, n * (static_cast<size_t>(worker) + 1) / n_workers};
  }

  // run() over the shares of [0, n): body(worker, begin, end).
  template <typename Body>
  void parallel_for(size_t n, Body&& body) noexcept {
    run([&](int worker) {
      const Range range = share(n, worker);
      if (range.begin < range.end) body(worker, range.begin, range.end);
    });
  }

 private:
  using Task = void (*)(void* context, int worker) noexcept;

  void run_task(Task task, void* context) noexcept;
  void work(int worker) noexcept;

  Task task_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint32_t> generation_{0};  // one more: a new task, or the end when stop_
  alignas(64) std::atomic<uint32_t> n_arrived_{0};   // at the barrier
  std::atomic<uint32_t> n_passed_{0};                // barriers passed
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace qwick
