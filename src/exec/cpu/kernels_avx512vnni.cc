// The kernels for AVX-512 with VNNI (Ice Lake, Zen 4 and later).
#include <immintrin.h>

#include "exec/cpu/kernels.h"

namespace qwick {
namespace {
#include "exec/cpu/vec_avx512.h"
#include "exec/cpu/kernels.inl"
}  // namespace

extern const Kernels kKernelsAvx512Vnni;
const Kernels kKernelsAvx512Vnni = {matmul, quantize};
}  // namespace qwick
