// The kernels, over the sixteen-lane vectors of vec_*.h; see kernels.h for the layout. Each kernels_ISA.cc
// includes this in an anonymous namespace. A row's result is the same operations in the same order
// whatever the number of tokens: integers within a group, then one fused multiply-add per group.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

template <int kBits>
constexpr uint32_t kQuantBytes = kBits * kTileRows * kGroup / 8;
constexpr uint32_t kScaleBytes = 2 * kTileRows;

// Columns 8j .. 8j+3 and 8j+4 .. 8j+7 of a group's 16 x 32 numbers.
template <int kBits>
QWICK_INLINE void load_quads(const uint8_t* p, int j, U8& first, U8& second) {
  if constexpr (kBits == 8) {
    first = u8_load(p + 128 * j);
    second = u8_load(p + 128 * j + 64);
    return;
  }
  const U8 nibble = u8_set1(0x0F);
  const U8 both = u8_load(p + 64 * j);
  first = u8_and(both, nibble);
  second = u8_and(u8_shift_right<4>(both), nibble);
  if constexpr (kBits == 5) {
    const U8 high = u8_load(p + 256);
    const U8 bit = u8_set1(0x10);
    const U8 a = j == 0 ? u8_shift_left<4>(high) : j == 1 ? u8_shift_left<2>(high) : j == 2 ? high : u8_shift_right<2>(high);
    const U8 b = j == 0 ? u8_shift_left<3>(high) : j == 1 ? u8_shift_left<1>(high) : j == 2 ? u8_shift_right<1>(high) : u8_shift_right<3>(high);
    first = u8_or(first, u8_and(a, bit));
    second = u8_or(second, u8_and(b, bit));
  }
  if constexpr (kBits == 6) {
    const U8 high = u8_load(p + 256 + 64 * (j / 2));
    const U8 bits = u8_set1(0x30);
    const U8 a = j % 2 == 0 ? u8_shift_left<4>(high) : high;
    const U8 b = j % 2 == 0 ? u8_shift_left<2>(high) : u8_shift_right<2>(high);
    first = u8_or(first, u8_and(a, bits));
    second = u8_or(second, u8_and(b, bits));
  }
}

// acc[t] += a group of a tile times the same group of kTokens tokens, whose quants are quant_stride,
// scales and sums group_stride apart.
template <int kBits, bool kHasMin, int kTokens>
QWICK_INLINE void add_group(const uint8_t* p, const uint8_t* w_scales, const uint8_t* w_minimums,
                            const int8_t* quants, size_t quant_stride, const float* scales,
                            const int32_t* sums, size_t group_stride, F32 (&acc)[kTokens]) {
  Dot<kBits> dots[kTokens];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    U8 first;
    U8 second;
    load_quads<kBits>(p, j, first, second);
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) {
      const int8_t* from = quants + t * quant_stride + 8 * j;
      dots[t].add(2 * j, first, from);
      dots[t].add(2 * j + 1, second, from + 4);
    }
  }
  const F32 scale = f32_load_f16(w_scales);
  F32 minimum;
  if constexpr (kHasMin) minimum = f32_load_f16(w_minimums);
#pragma GCC unroll 16
  for (int t = 0; t < kTokens; ++t) {
    const I32 sum = i32_set1(sums[t * group_stride]);
    I32 dot = dots[t].total();
    if constexpr (!kHasMin && Dot<kBits>::kZeroBits > 0)
      dot = i32_sub(dot, i32_shift_left<Dot<kBits>::kZeroBits>(sum));
    F32 product = f32_mul(scale, f32_from_i32(dot));
    if constexpr (kHasMin) product = f32_fma(minimum, f32_from_i32(sum), product);
    acc[t] = f32_fma(product, f32_set1(scales[t * group_stride]), acc[t]);
  }
}

// One tile times kTokens tokens. For a token alone the next tile is called for from memory on the way:
// its quants and scales are two streams, too short for the processor's own guess.
template <int kBits, bool kHasMin, int kTokens>
QWICK_INLINE void tile_tokens(const uint8_t* tile, size_t tile_bytes, const QuantRows* x,
                              uint32_t first_token, float* y, size_t y_stride, bool accumulate) {
  const uint32_t n_cols = x->n_cols;
  const uint32_t n_groups = n_cols / kGroup;
  const uint8_t* w_scales = tile + static_cast<size_t>(n_groups) * kQuantBytes<kBits>;
  const uint8_t* w_minimums = w_scales + static_cast<size_t>(n_groups) * kScaleBytes;
  const int8_t* quants = x->quants + static_cast<size_t>(first_token) * n_cols;
  const float* scales = x->scales + static_cast<size_t>(first_token) * n_groups;
  const int32_t* sums = x->sums + static_cast<size_t>(first_token) * n_groups;

  F32 acc[kTokens];
  for (int t = 0; t < kTokens; ++t) acc[t] = f32_zero();
  for (uint32_t group = 0; group < n_groups; ++group) {
    const uint8_t* p = tile + static_cast<size_t>(group) * kQuantBytes<kBits>;
    const size_t scale_at = static_cast<size_t>(group) * kScaleBytes;
    if constexpr (kTokens == 1) {
      for (uint32_t i = 0; i < kQuantBytes<kBits>; i += 64) __builtin_prefetch(p + tile_bytes + i);
      __builtin_prefetch(w_scales + scale_at + tile_bytes);
    }
    add_group<kBits, kHasMin, kTokens>(p, w_scales + scale_at, w_minimums + scale_at, quants + group * kGroup,
                                       n_cols, scales + group, sums + group, n_groups, acc);
  }
  const uint32_t max_extra = n_groups / kExtraShare;
  for (int t = 0; t < kTokens; ++t) {
    const size_t row = first_token + t;
    F32 one[1] = {acc[t]};
    for (uint32_t i = 0; i < x->n_extra[row]; ++i) {
      const size_t extra = row * max_extra + i;
      const uint32_t group = x->extra_groups[extra];
      const size_t scale_at = static_cast<size_t>(group) * kScaleBytes;
      add_group<kBits, kHasMin, 1>(tile + static_cast<size_t>(group) * kQuantBytes<kBits>,
                                   w_scales + scale_at, w_minimums + scale_at,
                                   x->extra_quants + extra * kGroup, 0, x->extra_scales + extra,
                                   x->extra_sums + extra, 0, one);
    }
    float* out = y + row * y_stride;
    f32_store(out, accumulate ? f32_add(f32_load(out), one[0]) : one[0]);
  }
}

// kTokens tokens at a time, from t on, over a few tiles; returns the first token left.
template <int kBits, bool kHasMin, int kTokens>
uint32_t tiles_tokens(const QuantMatrix* w, size_t tile_bytes, uint32_t tile_begin, uint32_t tile_end,
                      const QuantRows* x, uint32_t n_tokens, uint32_t t, float* y, size_t y_stride,
                      bool accumulate) {
  if constexpr (kTokens <= kTokensAtOnce) {
    for (; t + kTokens <= n_tokens; t += kTokens) {
      for (uint32_t tile = tile_begin; tile < tile_end; ++tile) {
        tile_tokens<kBits, kHasMin, kTokens>(w->data + tile * tile_bytes, tile_bytes, x, t,
                                             y + static_cast<size_t>(tile) * kTileRows, y_stride, accumulate);
      }
    }
  }
  return t;
}

template <int kBits, bool kHasMin>
void matmul_format(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x,
                   uint32_t n_tokens, float* y, size_t y_stride, int accumulate) {
  const size_t used_bytes =
      static_cast<size_t>(w->n_cols / kGroup) * (kQuantBytes<kBits> + kScaleBytes * (kHasMin ? 2 : 1));
  const size_t tile_bytes = (used_bytes + 63) / 64 * 64;
  // Few tokens: a tile in the first-level cache meets them all. Many: some of these in the first, a few
  // tiles in the second.
  const uint32_t n_tiles = n_tokens > 16 ? 4 : 1;
  for (uint32_t first = tile_begin; first < tile_end; first += n_tiles) {
    const uint32_t end = tile_end - first < n_tiles ? tile_end : first + n_tiles;
    uint32_t t = 0;
    t = tiles_tokens<kBits, kHasMin, 8>(w, tile_bytes, first, end, x, n_tokens, t, y, y_stride, accumulate);
    t = tiles_tokens<kBits, kHasMin, 4>(w, tile_bytes, first, end, x, n_tokens, t, y, y_stride, accumulate);
    t = tiles_tokens<kBits, kHasMin, 2>(w, tile_bytes, first, end, x, n_tokens, t, y, y_stride, accumulate);
    tiles_tokens<kBits, kHasMin, 1>(w, tile_bytes, first, end, x, n_tokens, t, y, y_stride, accumulate);
  }
}

void matmul(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x,
            uint32_t n_tokens, float* y, size_t y_stride, int accumulate) noexcept {
  switch (w->format) {
    case kQ4:
      return matmul_format<4, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ4Min:
      return matmul_format<4, true>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ5:
      return matmul_format<5, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ5Min:
      return matmul_format<5, true>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ6:
      return matmul_format<6, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    default:
      return matmul_format<8, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
  }
}

// 32 numbers to 8 bits; what the rounding leaves goes to `rest` when there is one.
QWICK_INLINE void quantize_group(const float* x, int8_t* quants, float* scale, int32_t* sum, float* rest) {
  const F32 a = f32_load(x);
  const F32 b = f32_load(x + 16);
  const float largest = f32_reduce_max(f32_max(f32_abs(a), f32_abs(b)));
  const F32 inverse = f32_set1(largest > 0 ? 127.0F / largest : 0.0F);
  const I32 qa = i32_from_f32(f32_mul(a, inverse));
  const I32 qb = i32_from_f32(f32_mul(b, inverse));
  i8_store(quants, qa);
  i8_store(quants + 16, qb);
  *scale = largest / 127.0F;
  *sum = i32_reduce_add(qa) + i32_reduce_add(qb);
  if (rest == nullptr) return;
  const F32 minus_scale = f32_set1(-*scale);
  f32_store(rest, f32_fma(f32_from_i32(qa), minus_scale, a));
  f32_store(rest + 16, f32_fma(f32_from_i32(qb), minus_scale, b));
}

void quantize(const float* x, const QuantRows* rows, uint32_t row) noexcept {
  const uint32_t n_groups = rows->n_cols / kGroup;
  const size_t first = static_cast<size_t>(row) * n_groups;
  float squares = 0;
  for (uint32_t group = 0; group < n_groups; ++group) {
    const size_t at = first + group;
    quantize_group(x + group * kGroup, rows->quants + at * kGroup, rows->scales + at, rows->sums + at, nullptr);
    squares += rows->scales[at] * rows->scales[at];
  }
  const float threshold = 2 * squares / static_cast<float>(n_groups);
  const uint32_t max_extra = n_groups / kExtraShare;
  uint32_t n_extra = 0;
  for (uint32_t group = 0; group < n_groups && n_extra < max_extra; ++group) {
    const size_t at = first + group;
    if (rows->scales[at] * rows->scales[at] <= threshold) continue;
    float rest[kGroup];
    quantize_group(x + group * kGroup, rows->quants + at * kGroup, rows->scales + at, rows->sums + at, rest);
    const size_t extra = static_cast<size_t>(row) * max_extra + n_extra++;
    rows->extra_groups[extra] = static_cast<uint16_t>(group);
    quantize_group(rest, rows->extra_quants + extra * kGroup, rows->extra_scales + extra,
                   rows->extra_sums + extra, nullptr);
  }
  rows->n_extra[row] = static_cast<uint16_t>(n_extra);
}

void rms_norm(const float* x, const float* weight, uint32_t n, float epsilon, float* y) noexcept {
  F32 squares = f32_zero();
  for (uint32_t i = 0; i < n; i += 16) squares = f32_fma(f32_load(x + i), f32_load(x + i), squares);
  const float mean = f32_reduce_add(squares) / static_cast<float>(n);
  const F32 scale = f32_set1(1.0F / __builtin_sqrtf(mean + epsilon));
  for (uint32_t i = 0; i < n; i += 16) {
    f32_store(y + i, f32_mul(f32_mul(f32_load(x + i), scale), f32_load(weight + i)));
  }
}

void add(const float* x, size_t n, float* y) noexcept {
  for (size_t i = 0; i < n; i += 16) f32_store(y + i, f32_add(f32_load(y + i), f32_load(x + i)));
}

// Within 2 units in the last place on [-87, 88], clamped outside: 2^n times the exponential series of
// the rest, which is at most ln(2)/2.
QWICK_INLINE F32 f32_exp(F32 x) {
  x = f32_min(f32_max(x, f32_set1(-87.0F)), f32_set1(88.0F));
  const F32 n = f32_round(f32_mul(x, f32_set1(1.44269504F)));
  F32 r = f32_fma(n, f32_set1(-0.693359375F), x);  // ln 2 in two parts, the first exact in n * it
  r = f32_fma(n, f32_set1(2.12194440e-4F), r);
  F32 y = f32_set1(1.0F / 720);
  y = f32_fma(y, r, f32_set1(1.0F / 120));
  y = f32_fma(y, r, f32_set1(1.0F / 24));
  y = f32_fma(y, r, f32_set1(1.0F / 6));
  y = f32_fma(y, r, f32_set1(0.5F));
  y = f32_fma(y, r, f32_set1(1.0F));
  y = f32_fma(y, r, f32_set1(1.0F));
  return f32_scale_by_power(y, n);
}

void silu_multiply(float* gate, const float* up, size_t n) noexcept {
  for (size_t i = 0; i < n; i += 16) {
    const F32 g = f32_load(gate + i);
    const F32 denominator = f32_add(f32_set1(1.0F), f32_exp(f32_sub(f32_zero(), g)));
    f32_store(gate + i, f32_mul(f32_div(g, denominator), f32_load(up + i)));
  }
}

void rotate(float* x, const float* cos, const float* sin, uint32_t n) noexcept {
  for (uint32_t i = 0; i < n / 2; i += 16) {
    const F32 a = f32_load(x + i);
    const F32 b = f32_load(x + n / 2 + i);
    const F32 c = f32_load(cos + i);
    const F32 s = f32_load(sin + i);
    f32_store(x + i, f32_sub(f32_mul(a, c), f32_mul(b, s)));
    f32_store(x + n / 2 + i, f32_add(f32_mul(b, c), f32_mul(a, s)));
  }
}

// The largest 16-bit number whose high byte, rounded, still fits: 127 * 256 + 127 (wide_store() with VNNI).
constexpr float kWideHighest = 32639.0F;

void quantize_wide(const float* x, const float* factors, uint32_t n, float factor, uint8_t* wide,
                   float* scale, int32_t* sum) noexcept {
  F32 magnitude = f32_zero();
  for (uint32_t i = 0; i < n; i += 16) {
    magnitude = f32_max(magnitude, f32_abs(f32_mul(f32_load(x + i), f32_load(factors + i))));
  }
  const float largest = f32_reduce_max(magnitude);
  const F32 inverse = f32_set1(largest > 0 ? kWideHighest / largest : 0.0F);
  int32_t total = 0;
  for (uint32_t i = 0; i < n; i += 16) {
    const F32 value = f32_mul(f32_load(x + i), f32_load(factors + i));
    const I32 quants = i32_from_f32(f32_mul(value, inverse));
    wide_store(wide + 2 * i, quants);
    total += i32_reduce_add(quants);
  }
  *scale = largest * (factor / kWideHighest);
  *sum = total;
}

// A row's part of the softmax over one block, and what it takes to add the block's values.
struct BlockWeights {
  uint8_t wide[2 * kBlockTokens];  // by token, 16 bits
  float step;                                  // of the weights
  float correction;                            // what was summed before shrinks by this
  int32_t sum;                                 // of the weights
};

// Softmax over one block's scores, folded into a row's running maximum and sum (Milakov and
// Gimelshein, arXiv 1805.02867). The weights, times the scales of the values, become 16-bit numbers.
QWICK_INLINE void fold_block(const float* scores, int n_visible, const float* value_scales, float* maximum,
                             float* sum, BlockWeights* weights) {
  const float lowest = -__builtin_inff();
  const F32 s0 = f32_keep_first(f32_load(scores), n_visible, lowest);
  const F32 s1 = f32_keep_first(f32_load(scores + 16), n_visible - 16, lowest);
  const float block_maximum = f32_reduce_max(f32_max(s0, s1));
  const float new_maximum = block_maximum > *maximum ? block_maximum : *maximum;
  const F32 shift = f32_set1(new_maximum);
  const F32 p0 = f32_keep_first(f32_exp(f32_sub(s0, shift)), n_visible, 0.0F);
  const F32 p1 = f32_keep_first(f32_exp(f32_sub(s1, shift)), n_visible - 16, 0.0F);
  weights->correction = f32_reduce_max(f32_exp(f32_sub(f32_set1(*maximum), shift)));
  *maximum = new_maximum;
  *sum = *sum * weights->correction + f32_reduce_add(f32_add(p0, p1));

  // Scales beyond the visible tokens are leftovers: times 0, and finite.
  const F32 w0 = f32_mul(p0, f32_load(value_scales));
  const F32 w1 = f32_mul(p1, f32_load(value_scales + 16));
  const float largest = f32_reduce_max(f32_max(w0, w1));
  const F32 inverse = f32_set1(largest > 0 ? kWideHighest / largest : 0.0F);
  const I32 q0 = i32_from_f32(f32_mul(w0, inverse));
  const I32 q1 = i32_from_f32(f32_mul(w1, inverse));
  wide_store(weights->wide, q0);
  wide_store(weights->wide + 32, q1);
  weights->sum = i32_reduce_add(q0) + i32_reduce_add(q1);
  weights->step = largest / kWideHighest;
}

// The dot products of a tile's n_quads quads with kRows rows of 16-bit numbers, `stride` bytes apart.
template <int kRows>
QWICK_INLINE void dot_rows(const uint8_t* tile, uint32_t n_quads, const uint8_t* rows, size_t stride,
                           WideDot (&dots)[kRows]) {
#pragma GCC unroll 2
  for (uint32_t quad = 0; quad < n_quads; ++quad) {
    const U8 numbers = u8_load(tile + 64 * quad);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) dots[row].add(numbers, rows + row * stride + 8 * quad);
  }
}

// kRows rows, all of which see some of the block's tokens.
template <bool kWideKeys, int kRows>
QWICK_INLINE void attend_block(const AttentionWork* work, uint32_t first_row, uint32_t first_token,
                               const uint8_t* block, float* maximum, float* sum) {
  const uint32_t head_dim = work->head_dim;
  const size_t tile_bytes = static_cast<size_t>(head_dim) * kTileRows;
  const uint8_t* low_keys = block + 2 * tile_bytes;
  const uint8_t* values = kWideKeys ? low_keys + 2 * tile_bytes : low_keys;
  const auto* key_scales = reinterpret_cast<const float*>(values + 2 * tile_bytes);
  const float* value_scales = key_scales + kBlockTokens;
  const uint8_t* queries = work->queries + static_cast<size_t>(first_row) * 2 * head_dim;

  alignas(64) float scores[kRows][kBlockTokens];
  for (uint32_t tile = 0; tile < kBlockTokens / kTileRows; ++tile) {
    WideDot dots[kRows];
    dot_rows(block + tile * tile_bytes, head_dim / 4, queries, 2 * head_dim, dots);
    WideDot low_dots[kRows];
    if constexpr (kWideKeys)
      dot_rows(low_keys + tile * tile_bytes, head_dim / 4, queries, 2 * head_dim, low_dots);
    const F32 scales = f32_load(key_scales + tile * kTileRows);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const I32 zero = i32_set1(work->sums[first_row + row] * 128);
      F32 dot = f32_from_i32(i32_sub(dots[row].total(), zero));
      if constexpr (kWideKeys) dot = f32_fma(dot, f32_set1(256.0F), f32_from_i32(low_dots[row].total()));
      f32_store(scores[row] + tile * kTileRows,
                f32_mul(f32_mul(dot, scales), f32_set1(work->scales[first_row + row])));
    }
  }

  BlockWeights weights[kRows];
  for (int row = 0; row < kRows; ++row) {
    const int n_visible = static_cast<int>(work->n_visible[first_row + row] - first_token);
    fold_block(scores[row], n_visible, value_scales, maximum + first_row + row, sum + first_row + row,
               &weights[row]);
  }
  for (uint32_t d = 0; d < head_dim; d += 16) {
    WideDot dots[kRows];
    dot_rows(values + d * kBlockTokens, kBlockTokens / 4, weights[0].wide, sizeof(BlockWeights), dots);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      float* out = work->out[first_row + row] + d;
      const F32 dot = f32_from_i32(i32_sub(dots[row].total(), i32_set1(weights[row].sum * 128)));
      const F32 before = f32_mul(f32_load(out), f32_set1(weights[row].correction));
      f32_store(out, f32_fma(dot, f32_set1(weights[row].step), before));
    }
  }
}

template <bool kWideKeys>
void attend_keys(const AttentionWork* work) {
  const uint32_t head_dim = work->head_dim;
  float maximum[kAttentionRows];
  float sum[kAttentionRows];
  for (uint32_t row = 0; row < work->n_rows; ++row) {
    maximum[row] = -__builtin_inff();
    sum[row] = 0;
    for (uint32_t d = 0; d < head_dim; d += 16) f32_store(work->out[row] + d, f32_zero());
  }
  const uint32_t n_tokens = work->n_visible[work->n_rows - 1];
  uint32_t row = 0;  // the first that sees the block
  for (uint32_t first = 0; first < n_tokens; first += kBlockTokens) {
    const uint8_t* block = work->blocks[first / kBlockTokens];
    while (work->n_visible[row] <= first) ++row;
    uint32_t r = row;
    if constexpr (kRowsAtOnce >= 4) {
      for (; r + 4 <= work->n_rows; r += 4) attend_block<kWideKeys, 4>(work, r, first, block, maximum, sum);
    }
    if constexpr (kRowsAtOnce >= 2) {
      for (; r + 2 <= work->n_rows; r += 2) attend_block<kWideKeys, 2>(work, r, first, block, maximum, sum);
    }
    for (; r < work->n_rows; ++r) attend_block<kWideKeys, 1>(work, r, first, block, maximum, sum);
  }
  for (uint32_t i = 0; i < work->n_rows; ++i) {
    const F32 inverse = f32_set1(1.0F / sum[i]);
    float* out = work->out[i];
    for (uint32_t d = 0; d < head_dim; d += 16) f32_store(out + d, f32_mul(f32_load(out + d), inverse));
  }
}

void attend(const AttentionWork* work) noexcept {
  if (work->has_wide_keys) {
    attend_keys<true>(work);
  } else {
    attend_keys<false>(work);
  }
}

// Products and sums apart, not fused, which scalar code can't do fast: the same bits everywhere.
float fit_scale(const float* x, int zero) noexcept {
  const F32 a = f32_load(x);
  const F32 b = f32_load(x + 16);
  const float largest = f32_reduce_max(f32_max(f32_abs(a), f32_abs(b)));
  if (largest == 0) return 0;
  // The number of largest magnitude goes to the last quant of its side, which below zero is one further
  // out, and nearby: for given quants the best scale is xq / qq, and what it leaves of the error is
  // smallest where xq^2 / qq is largest.
  const float extreme = f32_reduce_max(f32_max(a, b)) == largest ? largest : -largest;
  const float mean_square = f32_reduce_add(f32_add(f32_mul(a, a), f32_mul(b, b))) / kGroup;
  const F32 weight_a = f32_add(f32_mul(a, a), f32_set1(mean_square));
  const F32 weight_b = f32_add(f32_mul(b, b), f32_set1(mean_square));
  const F32 xa = f32_mul(weight_a, a);
  const F32 xb = f32_mul(weight_b, b);
  const F32 lowest = f32_set1(static_cast<float>(-zero));
  const F32 highest = f32_set1(static_cast<float>(zero - 1));
  float best = 0;
  float best_gain = -1;
  for (int step = -10; step <= 10; ++step) {
    const F32 inverse = f32_set1((static_cast<float>(-zero) + 0.1F * static_cast<float>(step)) / extreme);
    const F32 qa = f32_min(f32_max(f32_round(f32_mul(a, inverse)), lowest), highest);
    const F32 qb = f32_min(f32_max(f32_round(f32_mul(b, inverse)), lowest), highest);
    const float xq = f32_reduce_add(f32_add(f32_mul(xa, qa), f32_mul(xb, qb)));
    const F32 qqa = f32_mul(f32_mul(weight_a, qa), qa);
    const F32 qqb = f32_mul(f32_mul(weight_b, qb), qb);
    const float qq = f32_reduce_add(f32_add(qqa, qqb));
    const float gain = qq > 0 ? xq * xq / qq : 0;
    if (gain <= best_gain) continue;
    best_gain = gain;
    best = qq > 0 ? xq / qq : 0;
  }
  return best;
}

void stream(const uint8_t* p, size_t n) noexcept {
  U8 acc[4] = {u8_set1(0), u8_set1(0), u8_set1(0), u8_set1(0)};
  for (size_t i = 0; i < n; i += 256) {
    for (int j = 0; j < 4; ++j) acc[j] = u8_or(acc[j], u8_load(p + i + 64 * j));
  }
  for (U8& vector : acc) hide(vector);
}

uint64_t spin_dots(size_t n_rounds) noexcept {
  U8 w = u8_set1(3);
  U8 x = u8_set1(5);
  I32 acc[kDotsInFlight];
  for (I32& sum : acc) sum = i32_set1(0);
  for (size_t i = 0; i < n_rounds; ++i) {
    hide(w);  // or the products would be computed once
#pragma GCC unroll 16
    for (I32& sum : acc) sum = dot_peak(sum, w, x);
  }
  for (I32& sum : acc) hide(sum);
  return uint64_t{n_rounds} * kDotsInFlight * 64;
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
