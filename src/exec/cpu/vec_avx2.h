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

constexpr int kDotsInFlight = 6;  // independent products that hide the latency
constexpr int kTokensAtOnce = 4;  // of a product: as many as the registers hold
constexpr int kRowsAtOnce = 4;    // of attention

#define QWICK_INLINE static inline __attribute__((always_inline))
#define QWICK_MEMBER inline __attribute__((always_inline))

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
QWICK_INLINE I32 i32_add(I32 a, I32 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
QWICK_INLINE I32 i32_sub(I32 a, I32 b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
template <int kBy>
QWICK_INLINE I32 i32_shift_left(I32 x) {
  return {_mm256_slli_epi32(x.lo, kBy), _mm256_slli_epi32(x.hi, kBy)};
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
// To the second-level cache: what the first has outstanding at once is too little for memory's latency.
QWICK_INLINE void prefetch_l2(const uint8_t* p) {
  __builtin_prefetch(p, 0, 2);
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
QWICK_INLINE U8 u8_shift_left(U8 x, int by) {
  return {_mm256_slli_epi16(x.lo, by), _mm256_slli_epi16(x.hi, by)};
}
QWICK_INLINE U8 u8_shift_right(U8 x, int by) {
  return {_mm256_srli_epi16(x.lo, by), _mm256_srli_epi16(x.hi, by)};
}

QWICK_INLINE __m256i broadcast4(const void* x) {
  int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

// The compiler knows nothing of the value after this.
QWICK_INLINE void hide(U8& x) {
  __asm__ volatile("" : "+x"(x.lo), "+x"(x.hi));
}
QWICK_INLINE void hide(I32& x) {
  __asm__ volatile("" : "+x"(x.lo), "+x"(x.hi));
}

#ifdef QWICK_VNNI
QWICK_INLINE __m256i half_dot4(__m256i acc, __m256i u, __m256i s) {
  return _mm256_dpbusd_avx_epi32(acc, u, s);
}
QWICK_INLINE I32 dot_peak(I32 acc, U8 w, U8 x) {
  return {half_dot4(acc.lo, w.lo, x.lo), half_dot4(acc.hi, w.hi, x.hi)};
}

// The dot products of a group, quad by quad: add() all eight, then total().
template <int kBits>
struct Dot {
  static constexpr int kZeroBits = kBits - 1;  // log2 of the zero point that total() is with; 0: without
  I32 acc = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  QWICK_MEMBER void add(int, U8 w, const int8_t* x) {
    const __m256i four = broadcast4(x);
    acc = {half_dot4(acc.lo, w.lo, four), half_dot4(acc.hi, w.hi, four)};
  }
  QWICK_MEMBER I32 total() const { return acc; }
};

// The dot products of unsigned bytes with a row of 16-bit numbers, which wide_store() has split into
// high and low bytes: 8 bytes for each quad.
struct WideDot {
  I32 high = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  I32 low = high;

  QWICK_MEMBER void add(U8 w, const uint8_t* x) {
    const __m256i h = broadcast4(x);
    const __m256i l = broadcast4(x + 4);
    high = {half_dot4(high.lo, w.lo, h), half_dot4(high.hi, w.hi, h)};
    low = {half_dot4(low.lo, w.lo, l), half_dot4(low.hi, w.hi, l)};
  }
  QWICK_MEMBER I32 total() const { return i32_add(i32_shift_left<8>(high), low); }
};

QWICK_INLINE void wide_store(uint8_t* p, I32 x) {
  const I32 high = {_mm256_srai_epi32(_mm256_add_epi32(x.lo, _mm256_set1_epi32(128)), 8),
                    _mm256_srai_epi32(_mm256_add_epi32(x.hi, _mm256_set1_epi32(128)), 8)};
  const I32 low = i32_sub(x, i32_shift_left<8>(high));
  const __m128i h = _mm_packs_epi16(halves_to_16(high.lo), halves_to_16(high.hi));
  const __m128i l = _mm_packs_epi16(halves_to_16(low.lo), halves_to_16(low.hi));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_unpacklo_epi32(h, l));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16), _mm_unpackhi_epi32(h, l));
}
#else
QWICK_INLINE __m256i half_madd(__m256i acc, __m256i pairs) {
  return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
QWICK_INLINE I32 dot_peak(I32 acc, U8 w, U8 x) {
  return {half_madd(acc.lo, _mm256_maddubs_epi16(w.lo, x.lo)),
          half_madd(acc.hi, _mm256_maddubs_epi16(w.hi, x.hi))};
}

// The dot products of a group, quad by quad: add() all eight, then total(). Without VNNI, products of
// bytes are summed in pairs to 16 bits, which saturate. Numbers of b bits leave room for adding
// 2^(8-b)/2 such sums before they widen to 32 bits.
template <int kBits>
struct Dot {
  static constexpr int kZeroBits = kBits - 1;  // log2 of the zero point that total() is with; 0: without
  static constexpr int kAtOnce = kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
  I32 wide = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  U8 pairs = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  QWICK_MEMBER void add(int quad, U8 w, const int8_t* x) {
    const __m256i four = broadcast4(x);
    pairs = {_mm256_add_epi16(pairs.lo, _mm256_maddubs_epi16(w.lo, four)),
             _mm256_add_epi16(pairs.hi, _mm256_maddubs_epi16(w.hi, four))};
    if constexpr (kBits == 4) hide(pairs);  // or the sums are put off, and the products spill
    if (quad % kAtOnce != kAtOnce - 1) return;
    wide = {half_madd(wide.lo, pairs.lo), half_madd(wide.hi, pairs.hi)};
    pairs = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  }
  QWICK_MEMBER I32 total() const { return wide; }
};

// Eight bits: as signed numbers, their sign moved over to x; the zero point is then gone already.
template <>
struct Dot<8> {
  static constexpr int kZeroBits = 0;
  I32 wide = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  QWICK_MEMBER static __m256i half(__m256i acc, __m256i w, __m256i x) {
    const __m256i w_signed = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
    return half_madd(acc, _mm256_maddubs_epi16(_mm256_abs_epi8(w_signed), _mm256_sign_epi8(x, w_signed)));
  }
  QWICK_MEMBER void add(int, U8 w, const int8_t* x) {
    const __m256i four = broadcast4(x);
    wide = {half(wide.lo, w.lo, four), half(wide.hi, w.hi, four)};
    hide(wide);
  }
  QWICK_MEMBER I32 total() const { return wide; }
};

// The dot products of unsigned bytes with a row of 16-bit numbers, which wide_store() has put in the
// order 0, 2, 1, 3 of each quad: 8 bytes for each quad.
struct WideDot {
  I32 acc = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  QWICK_MEMBER static __m256i half(__m256i acc, __m256i w, __m256i x_even, __m256i x_odd) {
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(0xFF)), x_even));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_srli_epi16(w, 8), x_odd));
  }
  QWICK_MEMBER void add(U8 w, const uint8_t* x) {
    const __m256i even = broadcast4(x);
    const __m256i odd = broadcast4(x + 4);
    acc = {half(acc.lo, w.lo, even, odd), half(acc.hi, w.hi, even, odd)};
  }
  QWICK_MEMBER I32 total() const { return acc; }
};

QWICK_INLINE void wide_store(uint8_t* p, I32 x) {
  constexpr int kEvenFirst = 0xD8;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), halves_to_16(_mm256_shuffle_epi32(x.lo, kEvenFirst)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16), halves_to_16(_mm256_shuffle_epi32(x.hi, kEvenFirst)));
}
#endif
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
