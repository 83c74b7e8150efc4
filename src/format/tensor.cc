#include "format/tensor.h"

#include <array>

#include "base/check.h"
#include "base/numeric.h"

namespace qwick {
namespace {

// In the order of DType. The K types are superblocks of 256 with 6-bit (Q6_K: 8-bit) sub-scales.
constexpr std::array<DTypeInfo, 11> kDTypes = {{
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"BF16", 1, 2},
    {"Q8_0", 32, 2 + 32},
    {"Q4_0", 32, 2 + 16},
    {"Q4_1", 32, 2 + 2 + 16},
    {"Q5_0", 32, 2 + 4 + 16},
    {"Q5_1", 32, 2 + 2 + 4 + 16},
    {"Q4_K", 256, 2 + 2 + 12 + 128},
    {"Q5_K", 256, 2 + 2 + 12 + 32 + 128},
    {"Q6_K", 256, 128 + 64 + 16 + 2},
}};

}  // namespace

const DTypeInfo& dtype_info(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  QWICK_CHECK(index < kDTypes.size());
  return kDTypes[index];
}

std::optional<uint64_t> dtype_bytes(DType dtype, uint64_t n_elements) {
  const DTypeInfo& info = dtype_info(dtype);
  QWICK_CHECK(n_elements % info.block_size == 0);
  return checked_mul(n_elements / info.block_size, info.block_bytes);
}

uint64_t TensorView::n_elements() const {
  uint64_t n = 1;
  for (const uint64_t dim : shape) n *= dim;
  return n;
}

std::span<const std::byte> TensorView::row(uint64_t i) const {
  const uint64_t n_rows = shape.size() < 2 ? 1 : n_elements() / shape.back();
  QWICK_CHECK(i < n_rows);
  const size_t row_bytes = data.size() / n_rows;
  return data.subspan(i * row_bytes, row_bytes);
}

}  // namespace qwick
