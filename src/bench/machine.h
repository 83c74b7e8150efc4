// The machine that figures come from, with what it can do at most in the same minute.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/json.h"
#include "exec/cpu/limits.h"

namespace qwick {

struct Machine {
  std::string processor;
  std::string isa;  // whose kernels run: "avx2"
  int n_threads = 0;
  double memory_gib = 0;
  MachineLimits limits;
};

// n_threads: as many as the engine will use.
Machine measure_machine(int n_threads);
Json to_json(const Machine& machine);
// "AMD EPYC, avx2, 2 threads: reads 31.0 GB/s, multiplies 180 G int8/s"
std::string to_line(const Machine& machine);

double resident_mib(pid_t process);

}  // namespace qwick
