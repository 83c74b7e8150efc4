// The compute kernels, one table of functions per instruction set, chosen once at start (isa.h).
// C types only: the kernel objects are compiled for instruction sets that not every machine has, and
// an inline function of a shared header, compiled there, could replace the baseline's copy.
//
// Quantised matrices [n_rows, n_cols] are stored in tiles of 16 rows. A tile is a sequence of groups of
// 32 columns; a group holds the 16 x 32 numbers, unsigned with `bits` bits, then 16 f16 scales and,
// for formats that have one, 16 f16 minimums:
//   low plane   4 bits (q4, q5, q6): 4 x 64 bytes; byte 4r+i of load j holds column 8j+i in its low and
//               column 8j+4+i in its high nibble, for row r. 8 bits (q8): 8 x 64 bytes, column 4j+i.
//   high plane  1 bit (q5): 64 bytes, bit j of byte 4r+i belongs to column 4j+i; 2 bits (q6): 2 x 64
//               bytes, bits 2(j%4), 2(j%4)+1 of byte 4r+i of load j/4.
// A number is scale * (quant - zero_point) + minimum, with zero_point 2^(bits-1) where there is no
// minimum and 0 where there is. So 64 bytes of quants and 4 broadcast bytes of activations are one
// dot-product instruction over 16 rows.
//
// Activations are int8 with an f32 scale for each group of 32 and the sum of its numbers.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace qwick {

enum { kTileRows = 16, kGroup = 32 };

enum QuantFormat { kQ4, kQ4Min, kQ5, kQ5Min, kQ6, kQ8, kNumQuantFormats };

struct QuantMatrix {
  const uint8_t* data;  // 64-byte aligned
  uint32_t n_rows;      // a multiple of kTileRows; rows past the real ones are zero
  uint32_t n_cols;      // a multiple of kGroup
  QuantFormat format;
};

struct QuantRows {        // [n_rows, n_cols] of activations
  int8_t* quants;         // [n_rows, n_cols]
  float* scales;          // [n_rows, n_cols / kGroup]
  int32_t* sums;          // [n_rows, n_cols / kGroup]
};

struct Kernels {
  // y[t * y_stride + r] = sum over columns of w[r] * x[t] for rows of tiles [tile_begin, tile_end) and
  // tokens [0, n_tokens). `accumulate` adds to y instead.
  void (*matmul)(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x,
                 uint32_t n_tokens, float* y, size_t y_stride, int accumulate) noexcept;
  // x [n_cols] f32 to row `row` of out.
  void (*quantize)(const float* x, uint32_t n_cols, const QuantRows* out, uint32_t row) noexcept;
};

}  // namespace qwick
