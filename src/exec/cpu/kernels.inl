// The kernels, over the sixteen-lane vectors of vec_*.h; see kernels.h for the layout. Each kernels_ISA.cc
// includes this in an anonymous namespace. A row's result is the same operations in the same order
// whatever the number of tokens: integers within a group, then one fused multiply-add per group.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

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
    quantize_group(x + group * kGroup, rows->quants + at * kGroup, rows->scales + at, rows->sums + at,
                   nullptr);
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

#include "exec/cpu/kernels_attention.inl"
#include "exec/cpu/kernels_matmul.inl"

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
#pragma GCC unroll 16
    for (I32& sum : acc) {
      hide(w);  // or the products would be computed once
      sum = dot_peak(sum, w, x);
    }
  }
  for (I32& sum : acc) hide(sum);
  return uint64_t{n_rounds} * kDotsInFlight * 64;
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
