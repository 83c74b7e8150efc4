// Weight matrices in the tile layout of the kernels: made from a model file's tensors, exactly where
// the file's format maps onto one of ours, else by rounding.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/thread_pool.h"
#include "exec/cpu/kernels.h"
#include "format/tensor.h"

namespace qwick {

std::string_view quant_format_name(QuantFormat format);  // "q4", "q4_min"
uint32_t quant_bits(QuantFormat format);
bool has_minimum(QuantFormat format);

// The run-time format for a tensor type: the same bits where it is quantised (Q6_K, whose scales stand
// for 16 numbers, becomes q8), `wanted` where it is not.
QuantFormat run_time_format(DType dtype, QuantFormat wanted);

// Bytes of one tile of 16 rows, a multiple of 64.
uint64_t tile_bytes(QuantFormat format, uint32_t n_cols);

// A group of 32 numbers in a run-time format: scale * (quant - zero_point) + minimum.
struct GroupCode {
  uint8_t quants[kGroup];
  uint16_t scale;    // f16
  uint16_t minimum;  // f16; only in formats that have one
};

// The nearest code for 32 numbers: scales are searched for the least squared error, each number's
// weighted by its own square (large weights matter more).
void quantize_group(QuantFormat format, std::span<const float, kGroup> x, GroupCode& code);
void dequantize_group(QuantFormat format, const GroupCode& code, std::span<float, kGroup> x);

// Where the columns of a tensor's rows come from, in order: q and k of GGUF llama files hold the pairs
// of RoPE side by side, and are put back into halves.
enum class RowOrder { kAsStored, kPairsToHalves };

// Where row `row` of a reordered tensor is stored.
uint32_t stored_row(uint32_t row, RowOrder order, uint32_t head_dim);

// Writes `tensor` [n_rows, n_cols] as tiles to `out` (tile_bytes() for each 16 rows). Rows that fill up
// the last tile are zero. With kPairsToHalves rows are reordered within heads of head_dim rows.
void pack_matrix(const TensorView& tensor, QuantFormat format, RowOrder order, uint32_t head_dim,
                 ThreadPool& pool, uint8_t* out);

// Row `row` of a packed matrix as f32.
void unpack_row(const QuantMatrix& matrix, uint32_t row, std::span<float> out) noexcept;

}  // namespace qwick
