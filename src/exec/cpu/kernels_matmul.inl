// The product of quantised weights and activations; part of kernels.inl.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

template <int kBits>
constexpr uint32_t kQuantBytes = kBits * kTileRows * kGroup / 8;
constexpr uint32_t kScaleBytes = 2 * kTileRows;
constexpr uint32_t kFewTokens = 16;  // up to these, memory counts; beyond, arithmetic

// Bytes' bits moved up by so many places, down when negative. They cross into the neighbour byte; callers
// mask them out.
QWICK_INLINE U8 u8_shift(U8 x, int up) {
  return up >= 0 ? u8_shift_left(x, up) : u8_shift_right(x, -up);
}

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
  second = u8_and(u8_shift(both, -4), nibble);
  if constexpr (kBits == 5) {
    const U8 high = u8_load(p + 256);
    const U8 bit = u8_set1(0x10);
    first = u8_or(first, u8_and(u8_shift(high, 4 - 2 * j), bit));
    second = u8_or(second, u8_and(u8_shift(high, 3 - 2 * j), bit));
  }
  if constexpr (kBits == 6) {
    const U8 high = u8_load(p + 256 + 64 * (j / 2));
    const U8 bits = u8_set1(0x30);
    first = u8_or(first, u8_and(u8_shift(high, 4 - 4 * (j % 2)), bits));
    second = u8_or(second, u8_and(u8_shift(high, 2 - 4 * (j % 2)), bits));
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

// One tile times kTokens tokens. The first of few tokens call for the next tile from memory on the way
// (`ahead` bytes on): its quants and scales are two streams, too short for the processor's own guess.
template <int kBits, bool kHasMin, int kTokens>
QWICK_INLINE void tile_tokens(const uint8_t* tile, size_t ahead, const QuantRows* x, uint32_t first_token,
                              float* y, size_t y_stride, bool accumulate) {
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
    if (ahead > 0) {
      for (uint32_t i = 0; i < kQuantBytes<kBits>; i += 64) prefetch_l2(p + ahead + i);
      prefetch_l2(w_scales + scale_at + ahead);
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
      const size_t ahead = t == 0 && n_tokens <= kFewTokens ? tile_bytes : 0;
      for (uint32_t tile = tile_begin; tile < tile_end; ++tile) {
        tile_tokens<kBits, kHasMin, kTokens>(w->data + tile * tile_bytes, ahead, x, t,
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
  const uint32_t n_tiles = n_tokens > kFewTokens ? 4 : 1;
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
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
