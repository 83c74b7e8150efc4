// Sixteen lanes in AVX-512 registers; with VNNI (QWICK_VNNI) the dot product is one instruction.
// Included only by the kernel objects, inside their anonymous namespace.

using F32 = __m512;  // 16 lanes
using I32 = __m512i;
using U8 = __m512i;  // 64 bytes: 4 for each lane

#define QWICK_INLINE static inline __attribute__((always_inline))

QWICK_INLINE F32 f32_zero() { return _mm512_setzero_ps(); }
QWICK_INLINE F32 f32_set1(float x) { return _mm512_set1_ps(x); }
QWICK_INLINE F32 f32_load(const float* p) { return _mm512_loadu_ps(p); }
QWICK_INLINE void f32_store(float* p, F32 x) { _mm512_storeu_ps(p, x); }
QWICK_INLINE F32 f32_load_f16(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
QWICK_INLINE F32 f32_add(F32 a, F32 b) { return _mm512_add_ps(a, b); }
QWICK_INLINE F32 f32_mul(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
QWICK_INLINE F32 f32_max(F32 a, F32 b) { return _mm512_max_ps(a, b); }
QWICK_INLINE F32 f32_abs(F32 a) { return _mm512_abs_ps(a); }
QWICK_INLINE F32 f32_fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
QWICK_INLINE F32 f32_from_i32(I32 x) { return _mm512_cvtepi32_ps(x); }
QWICK_INLINE float f32_reduce_max(F32 x) { return _mm512_reduce_max_ps(x); }
QWICK_INLINE I32 i32_set1(int32_t x) { return _mm512_set1_epi32(x); }
QWICK_INLINE I32 i32_from_f32(F32 x) { return _mm512_cvtps_epi32(x); }  // to nearest even
QWICK_INLINE int32_t i32_reduce_add(I32 x) { return _mm512_reduce_add_epi32(x); }
QWICK_INLINE void i8_store(int8_t* p, I32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(x));
}
QWICK_INLINE U8 u8_load(const uint8_t* p) { return _mm512_load_si512(p); }
QWICK_INLINE void u8_store(uint8_t* p, U8 x) { _mm512_store_si512(p, x); }
QWICK_INLINE U8 u8_set1(uint8_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
QWICK_INLINE U8 u8_and(U8 a, U8 b) { return _mm512_and_si512(a, b); }
QWICK_INLINE U8 u8_or(U8 a, U8 b) { return _mm512_or_si512(a, b); }
// Bits cross into the neighbour byte; callers mask them out.
template <int kBy>
QWICK_INLINE U8 u8_shift_left(U8 x) {
  return _mm512_slli_epi16(x, kBy);
}
template <int kBy>
QWICK_INLINE U8 u8_shift_right(U8 x) {
  return _mm512_srli_epi16(x, kBy);
}

QWICK_INLINE I32 broadcast4(const int8_t* x) {
  int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// acc + the dot products of w's four bytes per lane (unsigned, `kBits` bits) with x's four.
QWICK_INLINE I32 dot4(I32 acc, U8 w, const int8_t* x) { return _mm512_dpbusd_epi32(acc, w, broadcast4(x)); }

// Sum over the 32 columns of a group of (w - zero_point) * x; `sum` is the sum of x.
template <int kBits>
QWICK_INLINE I32 group_dot(const U8 (&w)[8], const int8_t* x, int32_t minus_zero_sum) {
  I32 acc = i32_set1(minus_zero_sum);
  for (int q = 0; q < 8; ++q) acc = dot4(acc, w[q], x + 4 * q);
  return acc;
}
