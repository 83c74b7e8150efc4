// The kernels for AVX-512 F, BW, VL, DQ (Skylake-X and later).
#include <immintrin.h>

#include "exec/cpu/kernels.h"

namespace qwick {
namespace {
// clang-format off: the kernels are written over the vectors.
#include "exec/cpu/vec_avx512.h"
#include "exec/cpu/kernels.inl"
// clang-format on
}  // namespace

extern const Kernels kKernelsAvx512;
const Kernels kKernelsAvx512 = {"avx512", matmul, quantize,  quantize_wide, rms_norm, silu_multiply,
                                rotate,   attend, fit_scale, stream,        spin_dots};
}  // namespace qwick
