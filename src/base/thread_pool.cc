#include "base/thread_pool.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/check.h"

namespace qwick {
namespace {

// About 50 microseconds: longer than the gaps within a step, shorter than anybody notices.
constexpr int kSpins = 1500;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Until the value is no longer `old`: spins first, then sleeps.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

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

void ThreadPool::run_task(Task task, void* context) noexcept {
  task_ = task;
  context_ = context;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  task(context, 0);
  barrier();
}

void ThreadPool::work(int worker) noexcept {
  for (uint32_t seen = 0;; ++seen) {
    wait_for_change(generation_, seen);
    if (stop_) return;
    task_(context_, worker);
    barrier();
  }
}

void ThreadPool::barrier() noexcept {
  const uint32_t passed = n_passed_.load(std::memory_order_relaxed);
  if (n_arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_.size()) {
    n_arrived_.store(0, std::memory_order_relaxed);
    n_passed_.store(passed + 1, std::memory_order_release);
    n_passed_.notify_all();
  } else {
    wait_for_change(n_passed_, passed);
  }
}

}  // namespace qwick
