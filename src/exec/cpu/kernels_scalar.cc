// The kernels for any processor.
#include "exec/cpu/kernels.h"

namespace qwick {
namespace {
// clang-format off: the kernels are written over the vectors.
#include "exec/cpu/vec_scalar.h"
#include "exec/cpu/kernels.inl"
// clang-format on
}  // namespace

extern const Kernels kKernelsScalar;
const Kernels kKernelsScalar = {"scalar", matmul, quantize,  quantize_wide, rms_norm, silu_multiply,
                                rotate,   attend, fit_scale, stream,        spin_dots};
}  // namespace qwick
