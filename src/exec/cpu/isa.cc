#include "exec/cpu/isa.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"

namespace qwick {

extern const Kernels kKernelsScalar, kKernelsAvx2, kKernelsAvxVnni, kKernelsAvx512, kKernelsAvx512Vnni;

namespace {

std::vector<const Kernels*> detect() {
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512dq");
  std::vector<const Kernels*> kernels;
  if (has_avx512 && __builtin_cpu_supports("avx512vnni")) kernels.push_back(&kKernelsAvx512Vnni);
  if (has_avx512) kernels.push_back(&kKernelsAvx512);
  if (has_avx2 && __builtin_cpu_supports("avxvnni")) kernels.push_back(&kKernelsAvxVnni);
  if (has_avx2) kernels.push_back(&kKernelsAvx2);
  kernels.push_back(&kKernelsScalar);
  return kernels;
}

}  // namespace

std::span<const Kernels* const> available_kernels() {
  static const std::vector<const Kernels*> available = detect();
  return available;
}

const Kernels& choose_kernels() {
  const char* wanted = std::getenv("QWICK_ISA");
  if (wanted == nullptr || *wanted == '\0') return *available_kernels().front();
  std::string names;
  for (const Kernels* kernels : available_kernels()) {
    if (std::string_view(wanted) == kernels->name) return *kernels;
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  fail(ErrorCode::kInvalidArgument, "QWICK_ISA={}: this processor has {}", wanted, names);
}

}  // namespace qwick
