// The kernels for AVX-512 with VNNI (Ice Lake, Zen 4 and later).
#include <immintrin.h>

#include "exec/cpu/kernels.h"

#define QWICK_VNNI
namespace qwick {
namespace {
// clang-format off: the kernels are written over the vectors.
#include "exec/cpu/vec_avx512.h"
#include "exec/cpu/kernels.inl"
// clang-format on
}  // namespace

extern const Kernels kKernelsAvx512Vnni;
const Kernels kKernelsAvx512Vnni = {"avx512-vnni", matmul, quantize,  quantize_wide, rms_norm, silu_multiply,
                                    rotate,        attend, fit_scale, stream,        spin_dots};
}  // namespace qwick
