// Hashing for the tokenizer's tables: a 64x64->128 bit multiplication folded to 64 bits.
// The seeds are random in each process, since keys come from files.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace qwick {

inline uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  const auto read = [](const char* p, size_t n) {
    uint64_t value = 0;
    std::memcpy(&value, p, n);
    return value;
  };
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t h = seed ^ (n * kOdd);
  for (; n > 8; p += 8, n -= 8) h = mix(h ^ read(p, 8), kOdd);
  uint64_t tail = 0;
  if (n >= 4) {
    tail = read(p, 4) << 32 | read(p + n - 4, 4);
  } else if (n > 0) {
    tail = read(p, 1) << 16 | read(p + n / 2, 1) << 8 | read(p + n - 1, 1);
  }
  return mix(h ^ tail, kOdd ^ seed);
}

inline uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32 | device()) | 1;
}

}  // namespace qwick
