// Attention of 16-bit queries over the blocks of the cache; part of kernels.inl.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

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
  float step;                      // of the weights
  float correction;                // what was summed before shrinks by this
  int32_t sum;                     // of the weights
};

// Softmax over one block's scores, folded into the rows' running maxima and sums (Milakov and
// Gimelshein, arXiv 1805.02867). The weights, times the scales of the values, become 16-bit numbers.
// Row beside row in every stage: one row's chain of reductions alone would leave the processor waiting.
template <int kRows>
QWICK_INLINE void fold_block(const float (&scores)[kRows][kBlockTokens], const int (&n_visible)[kRows],
                             const float* value_scales, float* maximum, float* sum,
                             BlockWeights (&weights)[kRows]) {
  const float lowest = -__builtin_inff();
  alignas(64) float shrink[16] = {};  // by row: the old maximum less the new
  F32 p[kRows][2];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    p[row][0] = f32_keep_first(f32_load(scores[row]), n_visible[row], lowest);
    p[row][1] = f32_keep_first(f32_load(scores[row] + 16), n_visible[row] - 16, lowest);
    const float block_maximum = f32_reduce_max(f32_max(p[row][0], p[row][1]));
    const float new_maximum = block_maximum > maximum[row] ? block_maximum : maximum[row];
    shrink[row] = maximum[row] - new_maximum;
    maximum[row] = new_maximum;
  }
  f32_store(shrink, f32_exp(f32_load(shrink)));
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    const F32 shift = f32_set1(maximum[row]);
    p[row][0] = f32_keep_first(f32_exp(f32_sub(p[row][0], shift)), n_visible[row], 0.0F);
    p[row][1] = f32_keep_first(f32_exp(f32_sub(p[row][1], shift)), n_visible[row] - 16, 0.0F);
    weights[row].correction = shrink[row];
    sum[row] = sum[row] * shrink[row] + f32_reduce_add(f32_add(p[row][0], p[row][1]));
  }
  // Scales beyond the visible tokens are leftovers: times 0, and finite.
  const F32 scales0 = f32_load(value_scales);
  const F32 scales1 = f32_load(value_scales + 16);
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    const F32 w0 = f32_mul(p[row][0], scales0);
    const F32 w1 = f32_mul(p[row][1], scales1);
    const float largest = f32_reduce_max(f32_max(w0, w1));
    const F32 inverse = f32_set1(largest > 0 ? kWideHighest / largest : 0.0F);
    const I32 q0 = i32_from_f32(f32_mul(w0, inverse));
    const I32 q1 = i32_from_f32(f32_mul(w1, inverse));
    wide_store(weights[row].wide, q0);
    wide_store(weights[row].wide + 32, q1);
    weights[row].sum = i32_reduce_add(q0) + i32_reduce_add(q1);
    weights[row].step = largest / kWideHighest;
  }
}

// The dot products of a tile's n_quads quads with kRows rows of 16-bit numbers, `stride` bytes apart.
// With few rows the same tile of the next block, `ahead` bytes away, is called for from memory on the way.
template <int kRows>
QWICK_INLINE void dot_rows(const uint8_t* tile, uint32_t n_quads, const uint8_t* rows, size_t stride,
                           ptrdiff_t ahead, WideDot (&dots)[kRows]) {
#pragma GCC unroll 2
  for (uint32_t quad = 0; quad < n_quads; ++quad) {
    const U8 numbers = u8_load(tile + 64 * quad);
    if constexpr (kRows <= 2) prefetch_l2(tile + 64 * quad + ahead);
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) dots[row].add(numbers, rows + row * stride + 8 * quad);
  }
}

// kRows rows, all of which see some of the block's tokens.
template <bool kWideKeys, int kRows>
QWICK_INLINE void attend_block(const AttentionWork* work, uint32_t first_row, uint32_t first_token,
                               const uint8_t* block, ptrdiff_t ahead, float* maximum, float* sum) {
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
    dot_rows(block + tile * tile_bytes, head_dim / 4, queries, 2 * head_dim, ahead, dots);
    WideDot low_dots[kRows];
    if constexpr (kWideKeys)
      dot_rows(low_keys + tile * tile_bytes, head_dim / 4, queries, 2 * head_dim, ahead, low_dots);
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

  int n_visible[kRows];
  for (int row = 0; row < kRows; ++row)
    n_visible[row] = static_cast<int>(work->n_visible[first_row + row] - first_token);
  BlockWeights weights[kRows];
  fold_block(scores, n_visible, value_scales, maximum + first_row, sum + first_row, weights);
  for (uint32_t d = 0; d < head_dim; d += 16) {
    WideDot dots[kRows];
    dot_rows(values + d * kBlockTokens, kBlockTokens / 4, weights[0].wide, sizeof(BlockWeights), ahead, dots);
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
    const bool is_last = first + kBlockTokens >= n_tokens;
    const ptrdiff_t ahead = is_last ? 0 : work->blocks[first / kBlockTokens + 1] - block;
    while (work->n_visible[row] <= first) ++row;
    uint32_t r = row;
    if constexpr (kRowsAtOnce >= 4) {
      for (; r + 4 <= work->n_rows; r += 4)
        attend_block<kWideKeys, 4>(work, r, first, block, ahead, maximum, sum);
    }
    if constexpr (kRowsAtOnce >= 2) {
      for (; r + 2 <= work->n_rows; r += 2)
        attend_block<kWideKeys, 2>(work, r, first, block, ahead, maximum, sum);
    }
    for (; r < work->n_rows; ++r) attend_block<kWideKeys, 1>(work, r, first, block, ahead, maximum, sum);
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
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
