#include "bench/machine.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>

#include "base/thread_pool.h"
#include "exec/cpu/isa.h"

namespace qwick {
namespace {

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

double mib_of_pages(uint64_t n) {
  return static_cast<double>(n) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace

Machine measure_machine(int n_threads) {
  ThreadPool pool(n_threads);
  const Kernels& kernels = choose_kernels();
  return {processor_name(), kernels.name, pool.n_threads(),
          mib_of_pages(static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES))) / 1024,
          measure_limits(kernels, pool)};
}

Json to_json(const Machine& machine) {
  return {{"processor", machine.processor},
          {"isa", machine.isa},
          {"threads", machine.n_threads},
          {"memory_gib", machine.memory_gib},
          {"read_gb_per_s", machine.limits.read_bytes_per_s / 1e9},
          {"int8_gmac_per_s", machine.limits.int8_macs_per_s / 1e9}};
}

std::string to_line(const Machine& machine) {
  return fmt::format("{}, {}, {} threads: reads {:.1f} GB/s, multiplies {:.0f} G int8/s", machine.processor,
                     machine.isa, machine.n_threads, machine.limits.read_bytes_per_s / 1e9,
                     machine.limits.int8_macs_per_s / 1e9);
}

double resident_mib(pid_t process) {
  uint64_t n_pages = 0;
  uint64_t n_resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> n_pages >> n_resident;
  return mib_of_pages(n_resident);
}

}  // namespace qwick
