// The kernels, over the sixteen-lane vectors of vec_*.h; see kernels.h for the layout. Each kernels_ISA.cc
// includes this in an anonymous namespace. A row's result is the same operations in the same order
// whatever the number of tokens: integers within a group, then one fused multiply-add per group.

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
QWICK_INLINE void tile_tokens(const uint8_t* tile, uint32_t n_cols, const QuantRows* x, uint32_t first_token, float* y,
                              size_t y_stride, bool accumulate) {
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
void matmul_format(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x, uint32_t n_tokens,
                   float* y, size_t y_stride, int accumulate) {
  const size_t used_bytes =
      static_cast<size_t>(w->n_cols / kGroup) * (kQuantBytes<kBits> + kScaleBytes * (kHasMin ? 2 : 1));
  const size_t tile_bytes = (used_bytes + 63) / 64 * 64;
  for (uint32_t tile = tile_begin; tile < tile_end; ++tile) {
    const uint8_t* at = w->data + tile * tile_bytes;
    float* out = y + static_cast<size_t>(tile) * kTileRows;
    uint32_t t = 0;
    for (; t + 8 <= n_tokens; t += 8) tile_tokens<kBits, kHasMin, 8>(at, w->n_cols, x, t, out, y_stride, accumulate);
    if (t + 4 <= n_tokens) {
      tile_tokens<kBits, kHasMin, 4>(at, w->n_cols, x, t, out, y_stride, accumulate);
      t += 4;
    }
    if (t + 2 <= n_tokens) {
      tile_tokens<kBits, kHasMin, 2>(at, w->n_cols, x, t, out, y_stride, accumulate);
      t += 2;
    }
    if (t < n_tokens) tile_tokens<kBits, kHasMin, 1>(at, w->n_cols, x, t, out, y_stride, accumulate);
  }
}

void matmul(const QuantMatrix* w, uint32_t tile_begin, uint32_t tile_end, const QuantRows* x, uint32_t n_tokens,
            float* y, size_t y_stride, int accumulate) noexcept {
  switch (w->format) {
    case kQ4: return matmul_format<4, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ4Min: return matmul_format<4, true>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ5: return matmul_format<5, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ5Min: return matmul_format<5, true>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    case kQ6: return matmul_format<6, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
    default: return matmul_format<8, false>(w, tile_begin, tile_end, x, n_tokens, y, y_stride, accumulate);
  }
}

void quantize(const float* x, uint32_t n_cols, const QuantRows* out, uint32_t row) noexcept {
  const uint32_t n_groups = n_cols / kGroup;
  for (uint32_t group = 0; group < n_groups; ++group) {
    const F32 a = f32_load(x + group * kGroup);
    const F32 b = f32_load(x + group * kGroup + 16);
    const float largest = f32_reduce_max(f32_max(f32_abs(a), f32_abs(b)));
    const F32 inverse = f32_set1(largest > 0 ? 127.0F / largest : 0.0F);
    const I32 qa = i32_from_f32(f32_mul(a, inverse));
    const I32 qb = i32_from_f32(f32_mul(b, inverse));
    const size_t at = static_cast<size_t>(row) * n_groups + group;
    i8_store(out->quants + at * kGroup, qa);
    i8_store(out->quants + at * kGroup + 16, qb);
    out->scales[at] = largest / 127.0F;
    out->sums[at] = i32_reduce_add(qa) + i32_reduce_add(qb);
  }
}
