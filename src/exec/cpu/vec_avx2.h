// Sixteen lanes in pairs of AVX2 registers; with AVX-VNNI (QWICK_VNNI) the dot product is one
// instruction a half. Included only by the kernel objects, inside their anonymous namespace.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

struct F32 {
  __m256 lo, hi;
};
struct I32 {
  __m256i lo, hi;
};
struct U8 {
  __m256i lo, hi;
};

constexpr int kTokensAtOnce = 4;  // of a product: as many as the registers hold

#define QWICK_INLINE static inline __attribute__((always_inline))

QWICK_INLINE F32 f32_set1(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
QWICK_INLINE F32 f32_zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}
QWICK_INLINE F32 f32_load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
QWICK_INLINE void f32_store(float* p, F32 x) {
  _mm256_storeu_ps(p, x.lo);
  _mm256_storeu_ps(p + 8, x.hi);
}
QWICK_INLINE F32 f32_load_f16(const uint8_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}
QWICK_INLINE F32 f32_add(F32 a, F32 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_sub(F32 a, F32 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_mul(F32 a, F32 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_div(F32 a, F32 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_max(F32 a, F32 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_min(F32 a, F32 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
QWICK_INLINE F32 f32_abs(F32 a) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
QWICK_INLINE F32 f32_fma(F32 a, F32 b, F32 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
QWICK_INLINE F32 f32_from_i32(I32 x) {
  return {_mm256_cvtepi32_ps(x.lo), _mm256_cvtepi32_ps(x.hi)};
}
QWICK_INLINE float f32_reduce_max(F32 x) {
  const __m256 a = _mm256_max_ps(x.lo, x.hi);
  __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}
QWICK_INLINE float f32_reduce_add(F32 x) {  // halves pairwise, in the order of all versions
  const __m256 a = _mm256_add_ps(x.lo, x.hi);
  __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
QWICK_INLINE F32 f32_round(F32 x) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(x.lo, kNearest), _mm256_round_ps(x.hi, kNearest)};
}
QWICK_INLINE __m256 half_scale_by_power(__m256 x, __m256 n) {
  const __m256i exponent =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(x, _mm256_castsi256_ps(exponent));
}
QWICK_INLINE F32 f32_scale_by_power(F32 x, F32 n) {
  return {half_scale_by_power(x.lo, n.lo), half_scale_by_power(x.hi, n.hi)};
}
QWICK_INLINE F32 f32_keep_first(F32 x, int n, float other) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256 fill = _mm256_set1_ps(other);
  const __m256 lo = _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane));
  const __m256 hi = _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), lane));
  return {_mm256_blendv_ps(fill, x.lo, lo), _mm256_blendv_ps(fill, x.hi, hi)};
}
QWICK_INLINE I32 i32_set1(int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
QWICK_INLINE I32 i32_from_f32(F32 x) {
  return {_mm256_cvtps_epi32(x.lo), _mm256_cvtps_epi32(x.hi)};
}
QWICK_INLINE int32_t i32_reduce_add(I32 x) {
  const __m256i a = _mm256_add_epi32(x.lo, x.hi);
  __m128i b = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  b = _mm_add_epi32(b, _mm_unpackhi_epi64(b, b));
  return _mm_cvtsi128_si32(_mm_add_epi32(b, _mm_shuffle_epi32(b, 1)));
}
QWICK_INLINE __m128i halves_to_16(__m256i x) {  // 8 x i32 to 8 x i16, in order
  return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
QWICK_INLINE void i8_store(int8_t* p, I32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(halves_to_16(x.lo), halves_to_16(x.hi)));
}
QWICK_INLINE void u8_store16(uint8_t* p, I32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(halves_to_16(x.lo), halves_to_16(x.hi)));
}
QWICK_INLINE U8 u8_load(const uint8_t* p) {
  return {_mm256_load_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_load_si256(reinterpret_cast<const __m256i*>(p + 32))};
}
QWICK_INLINE U8 u8_set1(uint8_t x) {
  const __m256i all = _mm256_set1_epi8(static_cast<char>(x));
  return {all, all};
}
QWICK_INLINE U8 u8_and(U8 a, U8 b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
QWICK_INLINE U8 u8_or(U8 a, U8 b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
template <int kBy>
QWICK_INLINE U8 u8_shift_left(U8 x) {
  return {_mm256_slli_epi16(x.lo, kBy), _mm256_slli_epi16(x.hi, kBy)};
}
template <int kBy>
QWICK_INLINE U8 u8_shift_right(U8 x) {
  return {_mm256_srli_epi16(x.lo, kBy), _mm256_srli_epi16(x.hi, kBy)};
}

QWICK_INLINE __m256i broadcast4(const void* x) {
  int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

#ifdef QWICK_VNNI
QWICK_INLINE __m256i half_dot4(__m256i acc, __m256i u, __m256i s) {
  return _mm256_dpbusd_avx_epi32(acc, u, s);
}

template <int kBits>
QWICK_INLINE I32 group_dot(const U8 (&w)[8], const int8_t* x, int32_t minus_zero_sum) {
  I32 acc = i32_set1(minus_zero_sum);
  for (int q = 0; q < 8; ++q) {
    const __m256i four = broadcast4(x + 4 * q);
    acc = {half_dot4(acc.lo, w[q].lo, four), half_dot4(acc.hi, w[q].hi, four)};
  }
  return acc;
}
QWICK_INLINE I32 group_dot_signed(const uint8_t* v, const uint8_t* p) {
  I32 acc = i32_set1(0);
  for (int q = 0; q < 8; ++q) {
    const __m256i four = broadcast4(p + 4 * q);
    const U8 signed_bytes = u8_load(v + 64 * q);
    acc = {half_dot4(acc.lo, four, signed_bytes.lo), half_dot4(acc.hi, four, signed_bytes.hi)};
  }
  return acc;
}
#else
// Without VNNI: products of bytes are summed in pairs to 16 bits, which saturate. Numbers of b bits
// leave room for adding 2^(8-b)/2 such sums before they widen to 32 bits.
template <int kBits>
QWICK_INLINE __m256i half_group_dot(const __m256i* w, const __m256i* x, __m256i acc) {
  constexpr int kAtOnce = kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
  const __m256i ones = _mm256_set1_epi16(1);
  for (int q = 0; q < 8; q += kAtOnce) {
    __m256i sum = _mm256_maddubs_epi16(w[q], x[q]);
    for (int i = 1; i < kAtOnce; ++i) sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w[q + i], x[q + i]));
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(sum, ones));
  }
  return acc;
}
// Eight bits: as signed numbers, their sign moved over to x; the zero point is then gone already.
QWICK_INLINE __m256i half_dot_eight_bits(__m256i acc, __m256i w, __m256i x) {
  const __m256i w_signed = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w_signed), _mm256_sign_epi8(x, w_signed));
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

template <int kBits>
QWICK_INLINE I32 group_dot(const U8 (&w)[8], const int8_t* x, int32_t minus_zero_sum) {
  if constexpr (kBits == 8) {
    I32 acc = i32_set1(0);
    for (int q = 0; q < 8; ++q) {
      const __m256i four = broadcast4(x + 4 * q);
      acc = {half_dot_eight_bits(acc.lo, w[q].lo, four), half_dot_eight_bits(acc.hi, w[q].hi, four)};
    }
    return acc;
  } else {
    __m256i lo[8];
    __m256i hi[8];
    __m256i four[8];
    for (int q = 0; q < 8; ++q) {
      lo[q] = w[q].lo;
      hi[q] = w[q].hi;
      four[q] = broadcast4(x + 4 * q);
    }
    const __m256i start = _mm256_set1_epi32(minus_zero_sum);
    return {half_group_dot<kBits>(lo, four, start), half_group_dot<kBits>(hi, four, start)};
  }
}
// p up to 255 and v down to -128 would saturate as they are; even and odd bytes apart they don't.
QWICK_INLINE __m256i half_dot_signed(__m256i acc, __m256i p, __m256i v) {
  const __m256i low = _mm256_set1_epi16(0xFF);
  const __m256i even =
      _mm256_madd_epi16(_mm256_and_si256(p, low), _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8));
  const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(p, 8), _mm256_srai_epi16(v, 8));
  return _mm256_add_epi32(acc, _mm256_add_epi32(even, odd));
}
QWICK_INLINE I32 group_dot_signed(const uint8_t* v, const uint8_t* p) {
  I32 acc = i32_set1(0);
  for (int q = 0; q < 8; ++q) {
    const __m256i four = broadcast4(p + 4 * q);
    const U8 signed_bytes = u8_load(v + 64 * q);
    acc = {half_dot_signed(acc.lo, four, signed_bytes.lo), half_dot_signed(acc.hi, four, signed_bytes.hi)};
  }
  return acc;
}
#endif
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
