// The kernels for any processor.
#include "exec/cpu/kernels.h"

namespace qwick {
namespace {
#include "exec/cpu/kernels.inl"
#include "exec/cpu/vec_scalar.h"
}  // namespace

extern const Kernels kKernelsScalar;
const Kernels kKernelsScalar = {"scalar", matmul, quantize, rms_norm, add, silu_multiply, rotate, attend};
}  // namespace qwick
