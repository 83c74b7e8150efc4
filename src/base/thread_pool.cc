#include "base/thread_pool.h"

#include "base/check.h"

namespace qwick {

ThreadPool::ThreadPool(int n_threads) {
  QWICK_CHECK(n_threads >= 1);
  for (int worker = 1; worker < n_threads; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(size_t n, Task task, void* context) noexcept {
  task_ = task;
  context_ = context;
  n_ = n;
  n_busy_.store(static_cast<uint32_t>(threads_.size()));
  generation_.fetch_add(1);
  generation_.notify_all();
  run_share(0);
  for (uint32_t busy; (busy = n_busy_.load()) != 0;) n_busy_.wait(busy);
}

void ThreadPool::work(int worker) noexcept {
  for (uint32_t seen = 0;; ++seen) {
    generation_.wait(seen);
    if (stop_) return;
    run_share(worker);
    if (n_busy_.fetch_sub(1) == 1) n_busy_.notify_one();
  }
}

void ThreadPool::run_share(int worker) noexcept {
  const size_t n_workers = threads_.size() + 1;
  const size_t begin = n_ * static_cast<size_t>(worker) / n_workers;
  const size_t end = n_ * (static_cast<size_t>(worker) + 1) / n_workers;
  if (begin < end) task_(context_, worker, begin, end);
}

}  // namespace qwick
