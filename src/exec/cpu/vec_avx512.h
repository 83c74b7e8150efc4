// Sixteen lanes in AVX-512 registers; with VNNI (QWICK_VNNI) the dot product is one instruction.
// Included only by the kernel objects, inside their anonymous namespace.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

using F32 = __m512;  // 16 lanes
using I32 = __m512i;
using U8 = __m512i;  // 64 bytes: 4 for each lane

constexpr int kDotsInFlight = 12;  // independent products that hide the latency
constexpr int kTokensAtOnce = 8;   // of a product: as many as the registers hold
constexpr int kRowsAtOnce = 4;     // of attention

#define QWICK_INLINE static inline __attribute__((always_inline))
#define QWICK_MEMBER inline __attribute__((always_inline))

QWICK_INLINE F32 f32_zero() {
  return _mm512_setzero_ps();
}
QWICK_INLINE F32 f32_set1(float x) {
  return _mm512_set1_ps(x);
}
QWICK_INLINE F32 f32_load(const float* p) {
  return _mm512_loadu_ps(p);
}
QWICK_INLINE void f32_store(float* p, F32 x) {
  _mm512_storeu_ps(p, x);
}
QWICK_INLINE F32 f32_load_f16(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
QWICK_INLINE F32 f32_add(F32 a, F32 b) {
  return _mm512_add_ps(a, b);
}
QWICK_INLINE F32 f32_sub(F32 a, F32 b) {
  return _mm512_sub_ps(a, b);
}
QWICK_INLINE F32 f32_div(F32 a, F32 b) {
  return _mm512_div_ps(a, b);
}
QWICK_INLINE F32 f32_min(F32 a, F32 b) {
  return _mm512_min_ps(a, b);
}
QWICK_INLINE F32 f32_mul(F32 a, F32 b) {
  return _mm512_mul_ps(a, b);
}
QWICK_INLINE F32 f32_max(F32 a, F32 b) {
  return _mm512_max_ps(a, b);
}
QWICK_INLINE F32 f32_abs(F32 a) {
  return _mm512_abs_ps(a);
}
QWICK_INLINE F32 f32_fma(F32 a, F32 b, F32 c) {
  return _mm512_fmadd_ps(a, b, c);
}
QWICK_INLINE F32 f32_from_i32(I32 x) {
  return _mm512_cvtepi32_ps(x);
}
QWICK_INLINE float f32_reduce_max(F32 x) {
  return _mm512_reduce_max_ps(x);
}
// Halves are added pairwise, in the order of all versions.
QWICK_INLINE float f32_reduce_add(F32 x) {
  const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
  __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
QWICK_INLINE F32 f32_round(F32 x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
QWICK_INLINE F32 f32_scale_by_power(F32 x, F32 n) {
  return _mm512_scalef_ps(x, n);
}
// Lanes at and above `n` become `other`.
QWICK_INLINE F32 f32_keep_first(F32 x, int n, float other) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __mmask16 first = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(n), lane);
  return _mm512_mask_mov_ps(_mm512_set1_ps(other), first, x);
}
QWICK_INLINE I32 i32_set1(int32_t x) {
  return _mm512_set1_epi32(x);
}
QWICK_INLINE I32 i32_sub(I32 a, I32 b) {
  return _mm512_sub_epi32(a, b);
}
template <int kBy>
QWICK_INLINE I32 i32_shift_left(I32 x) {
  return _mm512_slli_epi32(x, kBy);
}
QWICK_INLINE I32 i32_from_f32(F32 x) {
  return _mm512_cvtps_epi32(x);
}  // to nearest even
QWICK_INLINE int32_t i32_reduce_add(I32 x) {
  return _mm512_reduce_add_epi32(x);
}
QWICK_INLINE void i8_store(int8_t* p, I32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(x));
}
// To the second-level cache: what the first has outstanding at once is too little for memory's latency.
QWICK_INLINE void prefetch_l2(const uint8_t* p) {
  __builtin_prefetch(p, 0, 2);
}
QWICK_INLINE U8 u8_load(const uint8_t* p) {
  return _mm512_load_si512(p);
}
QWICK_INLINE U8 u8_set1(uint8_t x) {
  return _mm512_set1_epi8(static_cast<char>(x));
}
QWICK_INLINE U8 u8_and(U8 a, U8 b) {
  return _mm512_and_si512(a, b);
}
QWICK_INLINE U8 u8_or(U8 a, U8 b) {
  return _mm512_or_si512(a, b);
}
QWICK_INLINE U8 u8_shift_left(U8 x, int by) {
  return _mm512_slli_epi16(x, by);
}
QWICK_INLINE U8 u8_shift_right(U8 x, int by) {
  return _mm512_srli_epi16(x, by);
}

QWICK_INLINE I32 broadcast4(const void* x) {
  int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// The compiler knows nothing of the value after this.
QWICK_INLINE void hide(__m512i& x) {
  __asm__ volatile("" : "+v"(x));
}

#ifdef QWICK_VNNI
QWICK_INLINE I32 dot_peak(I32 acc, U8 w, U8 x) {
  return _mm512_dpbusd_epi32(acc, w, x);
}

// The dot products of a group, quad by quad: add() all eight, then total().
template <int kBits>
struct Dot {
  static constexpr int kZeroBits = kBits - 1;  // log2 of the zero point that total() is with
  I32 acc = _mm512_setzero_si512();

  QWICK_MEMBER void add(int, U8 w, const int8_t* x) { acc = _mm512_dpbusd_epi32(acc, w, broadcast4(x)); }
  QWICK_MEMBER I32 total() const { return acc; }
};

// The dot products of unsigned bytes with a row of 16-bit numbers, which wide_store() has split into
// high and low bytes: 8 bytes for each quad.
struct WideDot {
  I32 high = _mm512_setzero_si512();
  I32 low = _mm512_setzero_si512();

  QWICK_MEMBER void add(U8 w, const uint8_t* x) {
    high = _mm512_dpbusd_epi32(high, w, broadcast4(x));
    low = _mm512_dpbusd_epi32(low, w, broadcast4(x + 4));
  }
  QWICK_MEMBER I32 total() const { return _mm512_add_epi32(_mm512_slli_epi32(high, 8), low); }
};

QWICK_INLINE void wide_store(uint8_t* p, I32 x) {
  const I32 high = _mm512_srai_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(128)), 8);
  const I32 low = _mm512_sub_epi32(x, _mm512_slli_epi32(high, 8));
  const __m128i h = _mm512_cvtepi32_epi8(high);
  const __m128i l = _mm512_cvtepi32_epi8(low);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_unpacklo_epi32(h, l));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16), _mm_unpackhi_epi32(h, l));
}
#else
QWICK_INLINE I32 dot_peak(I32 acc, U8 w, U8 x) {
  return _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_maddubs_epi16(w, x), _mm512_set1_epi16(1)));
}

// The dot products of a group, quad by quad: add() all eight, then total(). Without VNNI, products of
// bytes are summed in pairs to 16 bits, which saturate. Numbers of b bits leave room for adding
// 2^(8-b)/2 such sums before they widen to 32 bits; eight bits are widened first.
template <int kBits>
struct Dot {
  static constexpr int kZeroBits = kBits - 1;  // log2 of the zero point that total() is with
  static constexpr int kAtOnce = kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
  I32 wide = _mm512_setzero_si512();
  I32 pairs = _mm512_setzero_si512();

  QWICK_MEMBER void add(int quad, U8 w, const int8_t* x) {
    const I32 four = broadcast4(x);
    if constexpr (kBits == 8) {
      const I32 even = _mm512_srai_epi16(_mm512_slli_epi16(four, 8), 8);
      const I32 odd = _mm512_srai_epi16(four, 8);
      const I32 low = _mm512_madd_epi16(_mm512_and_si512(w, _mm512_set1_epi16(0xFF)), even);
      wide = _mm512_add_epi32(wide, _mm512_add_epi32(low, _mm512_madd_epi16(_mm512_srli_epi16(w, 8), odd)));
      return;
    }
    pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(w, four));
    if (quad % kAtOnce != kAtOnce - 1) return;
    wide = _mm512_add_epi32(wide, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    pairs = _mm512_setzero_si512();
  }
  QWICK_MEMBER I32 total() const { return wide; }
};

// The dot products of unsigned bytes with a row of 16-bit numbers, which wide_store() has put in the
// order 0, 2, 1, 3 of each quad: 8 bytes for each quad.
struct WideDot {
  I32 acc = _mm512_setzero_si512();

  QWICK_MEMBER void add(U8 w, const uint8_t* x) {
    const I32 even = _mm512_and_si512(w, _mm512_set1_epi16(0xFF));
    acc = _mm512_add_epi32(acc, _mm512_madd_epi16(even, broadcast4(x)));
    acc = _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_srli_epi16(w, 8), broadcast4(x + 4)));
  }
  QWICK_MEMBER I32 total() const { return acc; }
};

QWICK_INLINE void wide_store(uint8_t* p, I32 x) {
  const __m512i even_first = _mm512_shuffle_epi32(x, _MM_PERM_DBCA);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(even_first));
}
#endif
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
