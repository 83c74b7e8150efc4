// The compute kernels, one table of functions per instruction set, chosen once at start (isa.h).
// Plain types only: the kernel objects are compiled for instruction sets that not every machine has, and
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

constexpr uint32_t kTileRows = 16;
constexpr uint32_t kGroup = 32;

enum QuantFormat { kQ4, kQ4Min, kQ5, kQ5Min, kQ6, kQ8, kNumQuantFormats };

struct QuantMatrix {
  const uint8_t* data;  // 64-byte aligned
  uint32_t n_rows;      // a multiple of kTileRows; rows past the real ones are zero
  uint32_t n_cols;      // a multiple of kGroup
  QuantFormat format;
};

// A few numbers of a model's activations are many times larger than the rest, and would take most of
// what 8 bits have: a group whose squared scale is more than twice the mean over its row has an extra,
// what the rounding left, rounded likewise. These are fewer than half of the groups (Markov), in practice one
// in ten.
constexpr uint32_t kExtraShare = 2;

struct QuantRows {  // [n_rows, n_cols] of activations; n_groups = n_cols / kGroup
  uint32_t n_cols;
  int8_t* quants;          // [n_rows, n_cols]
  float* scales;           // [n_rows, n_groups]
  int32_t* sums;           // [n_rows, n_groups]
  uint16_t* n_extra;       // [n_rows] how many of the following a row has
  uint16_t* extra_groups;  // [n_rows, n_groups / kExtraShare] ascending
  int8_t* extra_quants;    // [n_rows, n_groups / kExtraShare, kGroup]
  float* extra_scales;     // [n_rows, n_groups / kExtraShare]
  int32_t* extra_sums;     // likewise
};

// Attention of up to kAttentionRows query vectors, all of one key/value head of one sequence, over the
// blocks of its cache. A block holds kBlockTokens tokens of one head of one layer, in bytes with a zero
// point of 128 and one scale for a token's key, one for its value:
//   keys     kBlockTokens / kTileRows tiles; byte 64q + 4r + i is dimension 4q+i of token r. With
//            16-bit keys these are the high bytes, and the low ones (unsigned) follow likewise.
//   values   head_dim / 16 tiles of 512 bytes; byte 64q + 4r + i is dimension r of token 4q+i
//   scales   kBlockTokens f32 of the keys, then of the values
// Queries and softmax weights have 16 bits, in the order that the instruction set wants.
constexpr uint32_t kBlockTokens = 32;
constexpr uint32_t kAttentionRows = 32;
constexpr uint32_t kMaxHeadDim = 256;  // more, and the sums of 8-bit times 16-bit numbers leave 32 bits

struct AttentionWork {
  const uint8_t* queries;  // [n_rows, 2 * head_dim] as quantize_wide() writes them
  const float* scales;     // [n_rows], with the 1 / sqrt(head_dim)
  const int32_t* sums;     // [n_rows] of the queries' numbers
  uint32_t n_rows;
  uint32_t head_dim;             // a multiple of kGroup
  int has_wide_keys;             // 16 bits instead of 8
  const uint32_t* n_visible;     // [n_rows] how many tokens a row sees; 1 or more, ascending
  const uint8_t* const* blocks;  // by position / kBlockTokens; 64-byte aligned
  float* const* out;             // [n_rows] pointers to [head_dim]
};

struct Kernels {
  const char* name;
  // y[t * y_stride + r] = sum over columns of w[r] * x[t] for rows r of tiles [tile_begin, tile_end)
  // and tokens t of [0, n_tokens). `accumulate` adds to y instead.
  void (*matmul)(const struct QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end,
                 const struct QuantRows* x, uint32_t n_tokens, float* y, size_t y_stride,
                 int accumulate) noexcept;
  // x [rows->n_cols] becomes row `row`.
  void (*quantize)(const float* x, const struct QuantRows* rows, uint32_t row) noexcept;
  // x [n] times factors [n] to 16 bits: wide [2n], one scale (times `factor`) and sum; n a multiple of 16.
  void (*quantize_wide)(const float* x, const float* factors, uint32_t n, float factor, uint8_t* wide,
                        float* scale, int32_t* sum) noexcept;
  // y[i] = x[i] / rms(x) * weight[i]; n a multiple of 16. y may be x.
  void (*rms_norm)(const float* x, const float* weight, uint32_t n, float epsilon, float* y) noexcept;
  // gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i]; n a multiple of 16.
  void (*silu_multiply)(float* gate, const float* up, size_t n) noexcept;
  // Turns the pairs (i, i + n/2) of x [n] by the angles; n a multiple of 32.
  void (*rotate)(float* x, const float* cos, const float* sin, uint32_t n) noexcept;
  void (*attend)(const struct AttentionWork* work) noexcept;
  // The scale by which x [kGroup] rounded to whole numbers of [-zero, zero) has the least squared error,
  // large numbers weighing more. For packing: the same bits on every instruction set.
  float (*fit_scale)(const float* x, int zero) noexcept;

  // What the machine can do, for `qwick bench limits`. Reads n bytes, 64-byte aligned, a multiple of 256.
  void (*stream)(const uint8_t* p, size_t n) noexcept;
  // Dot products of bytes in registers, at the highest rate there is; returns how many multiply-adds.
  uint64_t (*spin_dots)(size_t n_rounds) noexcept;
};

}  // namespace qwick
