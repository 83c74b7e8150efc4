// The kernels for AVX2 with AVX-VNNI (Alder Lake, Zen 5 and later).
#include <immintrin.h>

#include "exec/cpu/kernels.h"

#define QWICK_VNNI
namespace qwick {
namespace {
// clang-format off: the kernels are written over the vectors.
#include "exec/cpu/vec_avx2.h"
#include "exec/cpu/kernels.inl"
// clang-format on
}  // namespace

extern const Kernels kKernelsAvxVnni;
const Kernels kKernelsAvxVnni = {"avx-vnni", matmul, quantize,  quantize_wide, rms_norm, silu_multiply,
                                 rotate,     attend, fit_scale, stream,        spin_dots};
}  // namespace qwick
