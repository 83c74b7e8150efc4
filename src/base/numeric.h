// 16-bit floating-point formats and checked integer arithmetic for sizes that come from files.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace qwick {

inline float bf16_to_f32(uint16_t x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
}

// Rounds to nearest even; NaN stays NaN.
inline uint16_t f32_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// IEEE binary16, subnormals and specials included, without the F16C instructions. Branch-free: the
// exponent is rebased by one multiplication, which also normalises subnormals; infinity and NaN
// (exponent 31) need a second rebasing.
inline float f16_to_f32(uint16_t x) {
  const uint32_t sign = static_cast<uint32_t>(x & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(x & 0x7FFF) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const uint32_t special = (x & 0x7C00) == 0x7C00 ? 0x7F800000 : 0;
  return std::bit_cast<float>(sign | special | std::bit_cast<uint32_t>(scaled));
}

// Rounds to nearest even; beyond the largest f16, infinity; NaN stays NaN.
inline uint16_t f32_to_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520 and more
  if (magnitude < 0x38800000) {  // subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
  }
  const uint32_t rounded = magnitude + 0x0FFF + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Reads a little-endian value at any alignment.
template <typename T>
T load(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace qwick
