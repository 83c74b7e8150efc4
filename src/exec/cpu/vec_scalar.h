// Sixteen lanes as plain arrays: what the vector versions are compared with, and what runs on a
// processor without AVX2. Included only by the kernel objects, inside their anonymous namespace.
// Offsets here are small constants times small counters.
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result)

struct F32 {
  float v[16];
};
struct I32 {
  int32_t v[16];
};
struct U8 {
  uint8_t v[64];
};

constexpr int kDotsInFlight = 1;
constexpr int kTokensAtOnce = 1;  // of a product: nothing to gain from more
constexpr int kRowsAtOnce = 1;    // of attention

#define QWICK_INLINE static inline __attribute__((always_inline))
#define QWICK_MEMBER inline __attribute__((always_inline))
#define QWICK_LANES for (int i = 0; i < 16; ++i)

QWICK_INLINE F32 f32_set1(float x) {
  F32 r;
  QWICK_LANES r.v[i] = x;
  return r;
}
QWICK_INLINE F32 f32_zero() {
  return f32_set1(0.0F);
}
QWICK_INLINE F32 f32_load(const float* p) {
  F32 r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
QWICK_INLINE void f32_store(float* p, F32 x) {
  __builtin_memcpy(p, &x, sizeof x);
}
QWICK_INLINE float bits_to_f32(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
QWICK_INLINE F32 f32_load_f16(const uint8_t* p) {
  F32 r;
  QWICK_LANES {
    uint16_t half;
    __builtin_memcpy(&half, p + 2 * i, sizeof half);
    // Finite numbers only: scales that the packer wrote.
    const float magnitude = bits_to_f32(static_cast<uint32_t>(half & 0x7FFF) << 13) * 0x1p112F;
    r.v[i] = (half & 0x8000) != 0 ? -magnitude : magnitude;
  }
  return r;
}
QWICK_INLINE F32 f32_add(F32 a, F32 b) {
  QWICK_LANES a.v[i] += b.v[i];
  return a;
}
QWICK_INLINE F32 f32_sub(F32 a, F32 b) {
  QWICK_LANES a.v[i] -= b.v[i];
  return a;
}
QWICK_INLINE F32 f32_mul(F32 a, F32 b) {
  QWICK_LANES a.v[i] *= b.v[i];
  return a;
}
QWICK_INLINE F32 f32_div(F32 a, F32 b) {
  QWICK_LANES a.v[i] /= b.v[i];
  return a;
}
QWICK_INLINE F32 f32_max(F32 a, F32 b) {
  QWICK_LANES a.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return a;
}
QWICK_INLINE F32 f32_min(F32 a, F32 b) {
  QWICK_LANES a.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
  return a;
}
QWICK_INLINE F32 f32_abs(F32 a) {
  QWICK_LANES a.v[i] = __builtin_fabsf(a.v[i]);
  return a;
}
QWICK_INLINE F32 f32_fma(F32 a, F32 b, F32 c) {
  return f32_add(f32_mul(a, b), c);
}
QWICK_INLINE F32 f32_from_i32(I32 x) {
  F32 r;
  QWICK_LANES r.v[i] = static_cast<float>(x.v[i]);
  return r;
}
QWICK_INLINE float f32_reduce_max(F32 x) {
  float r = x.v[0];
  QWICK_LANES r = x.v[i] > r ? x.v[i] : r;
  return r;
}
// Halves are added pairwise, as the vector versions do.
QWICK_INLINE float f32_reduce_add(F32 x) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) x.v[i] += x.v[i + width];
  }
  return x.v[0];
}
QWICK_INLINE F32 f32_round(F32 x) {
  QWICK_LANES x.v[i] = __builtin_rintf(x.v[i]);
  return x;
}
// x * 2^n for whole n in [-126, 127].
QWICK_INLINE F32 f32_scale_by_power(F32 x, F32 n) {
  QWICK_LANES x.v[i] *= bits_to_f32(static_cast<uint32_t>(static_cast<int32_t>(n.v[i]) + 127) << 23);
  return x;
}
// Lanes at and above `n` become `other`.
QWICK_INLINE F32 f32_keep_first(F32 x, int n, float other) {
  QWICK_LANES x.v[i] = i < n ? x.v[i] : other;
  return x;
}
QWICK_INLINE I32 i32_set1(int32_t x) {
  I32 r;
  QWICK_LANES r.v[i] = x;
  return r;
}
QWICK_INLINE I32 i32_sub(I32 a, I32 b) {
  QWICK_LANES a.v[i] -= b.v[i];
  return a;
}
template <int kBy>
QWICK_INLINE I32 i32_shift_left(I32 x) {
  QWICK_LANES x.v[i] = static_cast<int32_t>(static_cast<uint32_t>(x.v[i]) << kBy);
  return x;
}
QWICK_INLINE I32 i32_from_f32(F32 x) {
  I32 r;
  QWICK_LANES r.v[i] = static_cast<int32_t>(__builtin_rintf(x.v[i]));
  return r;
}
QWICK_INLINE int32_t i32_reduce_add(I32 x) {
  int32_t r = 0;
  QWICK_LANES r += x.v[i];
  return r;
}
QWICK_INLINE void i8_store(int8_t* p, I32 x) {
  QWICK_LANES p[i] = static_cast<int8_t>(x.v[i]);
}
// To the second-level cache: what the first has outstanding at once is too little for memory's latency.
QWICK_INLINE void prefetch_l2(const uint8_t* p) {
  __builtin_prefetch(p, 0, 2);
}
QWICK_INLINE U8 u8_load(const uint8_t* p) {
  U8 r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
QWICK_INLINE U8 u8_set1(uint8_t x) {
  U8 r;
  for (uint8_t& byte : r.v) byte = x;
  return r;
}
QWICK_INLINE U8 u8_and(U8 a, U8 b) {
  for (int i = 0; i < 64; ++i) a.v[i] &= b.v[i];
  return a;
}
QWICK_INLINE U8 u8_or(U8 a, U8 b) {
  for (int i = 0; i < 64; ++i) a.v[i] |= b.v[i];
  return a;
}
QWICK_INLINE U8 u8_shift_left(U8 x, int by) {
  for (uint8_t& byte : x.v) byte = static_cast<uint8_t>(byte << by);
  return x;
}
QWICK_INLINE U8 u8_shift_right(U8 x, int by) {
  for (uint8_t& byte : x.v) byte = static_cast<uint8_t>(byte >> by);
  return x;
}
// The compiler knows nothing of the value after this.
template <typename Vector>
QWICK_INLINE void hide(Vector& x) {
  __asm__ volatile("" : "+m"(x));
}
// One product of bytes as fast as it goes, for measuring the machine.
QWICK_INLINE I32 dot_peak(I32 acc, U8 w, U8 x) {
  for (int i = 0; i < 64; ++i) acc.v[i / 4] += int32_t{w.v[i]} * static_cast<int8_t>(x.v[i]);
  return acc;
}

// The dot products of a group, quad by quad: add() all eight, then total().
template <int kBits>
struct Dot {
  static constexpr int kZeroBits = kBits - 1;  // log2 of the zero point that total() is with
  I32 acc = {};

  QWICK_MEMBER void add(int, const U8& w, const int8_t* x) {
    for (int i = 0; i < 64; ++i) acc.v[i / 4] += int32_t{w.v[i]} * x[i % 4];
  }
  QWICK_MEMBER I32 total() const { return acc; }
};

// The dot products of unsigned bytes with a row of 16-bit numbers, as wide_store() writes them: 8 bytes
// for each quad.
struct WideDot {
  I32 acc = {};

  QWICK_MEMBER void add(const U8& w, const uint8_t* x) {
    int16_t four[4];
    __builtin_memcpy(four, x, sizeof four);
    for (int i = 0; i < 64; ++i) acc.v[i / 4] += int32_t{w.v[i]} * four[i % 4];
  }
  QWICK_MEMBER I32 total() const { return acc; }
};

QWICK_INLINE void wide_store(uint8_t* p, I32 x) {
  QWICK_LANES {
    const auto narrow = static_cast<int16_t>(x.v[i]);
    __builtin_memcpy(p + 2 * i, &narrow, sizeof narrow);
  }
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
