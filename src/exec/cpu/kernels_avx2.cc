// The kernels for AVX2 with FMA and F16C (Haswell, Zen and later).
#include <immintrin.h>

#include "exec/cpu/kernels.h"

namespace qwick {
namespace {
// clang-format off: the kernels are written over the vectors.
#include "exec/cpu/vec_avx2.h"
#include "exec/cpu/kernels.inl"
// clang-format on
}  // namespace

extern const Kernels kKernelsAvx2;
const Kernels kKernelsAvx2 = {"avx2", matmul, quantize,  quantize_wide, rms_norm, silu_multiply,
                              rotate, attend, fit_scale, stream,        spin_dots};
}  // namespace qwick
