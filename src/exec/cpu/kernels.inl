// The kernels, over the sixteen-lane vectors of vec_*.h; see kernels.h for the layout. Each kernels_ISA.cc
// includes this in an anonymous namespace. A row's result is the same operations in the same order
// whatever the number of tokens: integers within a group, then one fused multiply-add per group.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

template <int kBits>
constexpr uint32_t kQuantBytes = kBits * kTileRows * kGroup / 8;
constexpr uint32_t kScaleBytes = 2 * kTileRows;

// The 16 x 32 numbers of a group: w[q] holds columns 4q .. 4q+3.
template <int kBits>
QWICK_INLINE void load_group(const uint8_t* p, U8 (&w)[8]) {
  if constexpr (kBits == 8) {
    for (int q = 0; q < 8; ++q) w[q] = u8_load(p + 64 * q);
    return;
  }
  const U8 nibble = u8_set1(0x0F);
  for (int j = 0; j < 4; ++j) {
    const U8 both = u8_load(p + 64 * j);
    w[2 * j] = u8_and(both, nibble);
    w[2 * j + 1] = u8_and(u8_shift_right<4>(both), nibble);
  }
  if constexpr (kBits == 5) {
    const U8 high = u8_load(p + 256);
    const U8 bit = u8_set1(0x10);
    w[0] = u8_or(w[0], u8_and(u8_shift_left<4>(high), bit));
    w[1] = u8_or(w[1], u8_and(u8_shift_left<3>(high), bit));
    w[2] = u8_or(w[2], u8_and(u8_shift_left<2>(high), bit));
    w[3] = u8_or(w[3], u8_and(u8_shift_left<1>(high), bit));
    w[4] = u8_or(w[4], u8_and(high, bit));
    w[5] = u8_or(w[5], u8_and(u8_shift_right<1>(high), bit));
    w[6] = u8_or(w[6], u8_and(u8_shift_right<2>(high), bit));
    w[7] = u8_or(w[7], u8_and(u8_shift_right<3>(high), bit));
  }
  if constexpr (kBits == 6) {
    const U8 bits = u8_set1(0x30);
    for (int j = 0; j < 2; ++j) {
      const U8 high = u8_load(p + 256 + 64 * j);
      w[4 * j] = u8_or(w[4 * j], u8_and(u8_shift_left<4>(high), bits));
      w[4 * j + 1] = u8_or(w[4 * j + 1], u8_and(u8_shift_left<2>(high), bits));
      w[4 * j + 2] = u8_or(w[4 * j + 2], u8_and(high, bits));
      w[4 * j + 3] = u8_or(w[4 * j + 3], u8_and(u8_shift_right<2>(high), bits));
    }
  }
}

// One tile times kTokens tokens.
template <int kBits, bool kHasMin, int kTokens>
QWICK_INLINE void tile_tokens(const uint8_t* tile, uint32_t n_cols, const QuantRows* x, uint32_t first_token,
                              float* y, size_t y_stride, bool accumulate) {
  const uint32_t n_groups = n_cols / kGroup;
  constexpr int32_t kZeroPoint = kHasMin ? 0 : 1 << (kBits - 1);
  const uint8_t* w_scales = tile + static_cast<size_t>(n_groups) * kQuantBytes<kBits>;
  const uint8_t* w_minimums = w_scales + static_cast<size_t>(n_groups) * kScaleBytes;
  const int8_t* quants = x->quants + static_cast<size_t>(first_token) * n_cols;
  const float* scales = x->scales + static_cast<size_t>(first_token) * n_groups;
  const int32_t* sums = x->sums + static_cast<size_t>(first_token) * n_groups;

  F32 acc[kTokens];
  for (int t = 0; t < kTokens; ++t) acc[t] = f32_zero();
  for (uint32_t group = 0; group < n_groups; ++group) {
    U8 w[8];
    load_group<kBits>(tile + static_cast<size_t>(group) * kQuantBytes<kBits>, w);
    const F32 scale = f32_load_f16(w_scales + static_cast<size_t>(group) * kScaleBytes);
    F32 minimum;
    if constexpr (kHasMin) minimum = f32_load_f16(w_minimums + static_cast<size_t>(group) * kScaleBytes);
#pragma GCC unroll 16
    for (int t = 0; t < kTokens; ++t) {
      const size_t at_group = t * static_cast<size_t>(n_groups) + group;
      const I32 dot = group_dot<kBits>(w, quants + at_group * kGroup, -kZeroPoint * sums[at_group]);
      const F32 x_scale = f32_set1(scales[at_group]);
      acc[t] = f32_fma(f32_from_i32(dot), f32_mul(scale, x_scale), acc[t]);
      if constexpr (kHasMin) {
        const F32 x_sum = f32_set1(scales[at_group] * static_cast<float>(sums[at_group]));
        acc[t] = f32_fma(minimum, x_sum, acc[t]);
      }
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    float* out = y + (first_token + t) * y_stride;
    f32_store(out, accumulate ? f32_add(f32_load(out), acc[t]) : acc[t]);
  }
}

template <int kBits, bool kHasMin>
void matmul_format(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x,
                   uint32_t n_tokens, float* y, size_t y_stride, int accumulate) {
  const size_t used_bytes =
      static_cast<size_t>(w->n_cols / kGroup) * (kQuantBytes<kBits> + kScaleBytes * (kHasMin ? 2 : 1));
  const size_t tile_bytes = (used_bytes + 63) / 64 * 64;
  for (uint32_t tile = tile_begin; tile < tile_end; ++tile) {
    const uint8_t* at = w->data + tile * tile_bytes;
    float* out = y + static_cast<size_t>(tile) * kTileRows;
    uint32_t t = 0;
    if constexpr (kTokensAtOnce >= 8) {
      for (; t + 8 <= n_tokens; t += 8)
        tile_tokens<kBits, kHasMin, 8>(at, w->n_cols, x, t, out, y_stride, accumulate);
    }
    if constexpr (kTokensAtOnce >= 4) {
      for (; t + 4 <= n_tokens; t += 4)
        tile_tokens<kBits, kHasMin, 4>(at, w->n_cols, x, t, out, y_stride, accumulate);
    }
    for (; t < n_tokens; ++t) tile_tokens<kBits, kHasMin, 1>(at, w->n_cols, x, t, out, y_stride, accumulate);
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

void quantize(const float* x, size_t n, float factor, int8_t* quants, float* scales, int32_t* sums) noexcept {
  for (size_t group = 0; group < n / kGroup; ++group) {
    const F32 a = f32_load(x + group * kGroup);
    const F32 b = f32_load(x + group * kGroup + 16);
    const float largest = f32_reduce_max(f32_max(f32_abs(a), f32_abs(b)));
    const F32 inverse = f32_set1(largest > 0 ? 127.0F / largest : 0.0F);
    const I32 qa = i32_from_f32(f32_mul(a, inverse));
    const I32 qb = i32_from_f32(f32_mul(b, inverse));
    i8_store(quants + group * kGroup, qa);
    i8_store(quants + group * kGroup + 16, qb);
    scales[group] = largest * (factor / 127.0F);
    sums[group] = i32_reduce_add(qa) + i32_reduce_add(qb);
  }
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

// Softmax over one block's scores, folded into a row's running maximum, sum and output (Milakov and
// Gimelshein, arXiv 1805.02867). The weights, times the scales of the values, become 8-bit numbers.
QWICK_INLINE void fold_block(const float* scores, int n_visible, const uint8_t* values,
                             const float* value_scales, uint32_t head_dim, float* maximum, float* sum,
                             float* out) {
  const float lowest = -__builtin_inff();
  const F32 s0 = f32_keep_first(f32_load(scores), n_visible, lowest);
  const F32 s1 = f32_keep_first(f32_load(scores + 16), n_visible - 16, lowest);
  const float block_maximum = f32_reduce_max(f32_max(s0, s1));
  const float new_maximum = block_maximum > *maximum ? block_maximum : *maximum;
  const F32 shift = f32_set1(new_maximum);
  const F32 p0 = f32_keep_first(f32_exp(f32_sub(s0, shift)), n_visible, 0.0F);
  const F32 p1 = f32_keep_first(f32_exp(f32_sub(s1, shift)), n_visible - 16, 0.0F);
  const F32 correction = f32_exp(f32_sub(f32_set1(*maximum), shift));
  *maximum = new_maximum;
  *sum = *sum * f32_reduce_max(correction) + f32_reduce_add(f32_add(p0, p1));

  // Scales beyond the visible tokens are leftovers: times 0, and finite.
  const F32 w0 = f32_mul(p0, f32_load(value_scales));
  const F32 w1 = f32_mul(p1, f32_load(value_scales + 16));
  const float largest = f32_reduce_max(f32_max(w0, w1));
  const F32 inverse = f32_set1(largest > 0 ? 255.0F / largest : 0.0F);
  alignas(64) uint8_t weights[kBlockTokens];
  u8_store16(weights, i32_from_f32(f32_mul(w0, inverse)));
  u8_store16(weights + 16, i32_from_f32(f32_mul(w1, inverse)));
  const F32 step = f32_set1(largest / 255.0F);
  for (uint32_t d = 0; d < head_dim; d += 16) {
    const F32 dot = f32_from_i32(group_dot_signed(values + static_cast<size_t>(d) * kBlockTokens, weights));
    f32_store(out + d, f32_fma(dot, step, f32_mul(f32_load(out + d), correction)));
  }
}

void attend(const AttentionWork* work) noexcept {
  const uint32_t head_dim = work->head_dim;
  const size_t key_tile_bytes = static_cast<size_t>(head_dim / kGroup) * (kQuantBytes<8> + kScaleBytes);
  const size_t key_bytes = (key_tile_bytes + 63) / 64 * 64 * (kBlockTokens / kTileRows);
  float maximum[kAttentionRows];
  float sum[kAttentionRows];
  alignas(64) float scores[kAttentionRows * kBlockTokens];
  uint32_t n_tokens = 0;
  for (uint32_t row = 0; row < work->n_rows; ++row) {
    maximum[row] = -__builtin_inff();
    sum[row] = 0;
    for (uint32_t d = 0; d < head_dim; d += 16) f32_store(work->out[row] + d, f32_zero());
    if (work->n_visible[row] > n_tokens) n_tokens = work->n_visible[row];
  }
  for (uint32_t first = 0; first < n_tokens; first += kBlockTokens) {
    const uint8_t* block = work->blocks[first / kBlockTokens];
    const QuantMatrix keys = {block, kBlockTokens, head_dim, kQ8};
    matmul_format<8, false>(&keys, 0, kBlockTokens / kTileRows, &work->queries, work->n_rows, scores,
                            kBlockTokens, 0);
    const uint8_t* values = block + key_bytes;
    const float* value_scales =
        reinterpret_cast<const float*>(values + static_cast<size_t>(head_dim) * kBlockTokens);
    for (uint32_t row = 0; row < work->n_rows; ++row) {
      const int n_visible = static_cast<int>(work->n_visible[row]) - static_cast<int>(first);
      if (n_visible <= 0) continue;
      fold_block(scores + row * kBlockTokens, n_visible, values, value_scales, head_dim, &maximum[row],
                 &sum[row], work->out[row]);
    }
  }
  for (uint32_t row = 0; row < work->n_rows; ++row) {
    const F32 inverse = f32_set1(1.0F / sum[row]);
    float* out = work->out[row];
    for (uint32_t d = 0; d < head_dim; d += 16) f32_store(out + d, f32_mul(f32_load(out + d), inverse));
  }
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
