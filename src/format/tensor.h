// What every model file gives: named, typed views of bytes that the file's mapping owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

// The names of the formats, underscores included.
// NOLINTBEGIN(readability-identifier-naming)
enum class DType : uint8_t { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ4K, kQ5K, kQ6K };
// NOLINTEND(readability-identifier-naming)

// A row is a sequence of blocks; a plain number is a block of one element.
struct DTypeInfo {
  std::string_view name;  // as in the GGUF documentation: "F32", "Q4_K"
  uint32_t block_size;    // elements
  uint32_t block_bytes;
};
const DTypeInfo& dtype_info(DType dtype);

// Bytes of n_elements (a whole number of blocks), nothing when the product overflows.
std::optional<uint64_t> dtype_bytes(DType dtype, uint64_t n_elements);

// shape is outermost first ([rows, cols]); data holds exactly the product, row by row.
// The view is valid as long as the file that it came from.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;
  std::span<const std::byte> data;

  uint64_t n_elements() const;
  // Bytes of row i, for a matrix [rows, cols]; the whole of a vector is its row 0.
  std::span<const std::byte> row(uint64_t i) const;
};

}  // namespace qwick
