// What the machine can do at most: the ceilings that `qwick bench` compares the engine with.
#pragma once

#include "base/thread_pool.h"
#include "exec/cpu/kernels.h"

namespace qwick {

struct MachineLimits {
  double read_bytes_per_s = 0;  // streaming from memory, all threads together
  double int8_macs_per_s = 0;   // multiply-adds of bytes in registers, all threads together
};

// Takes about a second and 512 MiB. The best of several rounds: a ceiling, not an average.
MachineLimits measure_limits(const Kernels& kernels, ThreadPool& pool);

}  // namespace qwick
