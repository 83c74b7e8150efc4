// Numbers that look random and are a function of their argument alone.
#pragma once

#include <cstdint>

namespace qwick {

// 2^64 over the golden ratio: what splitmix64 counts in (Steele, Lea and Flood, OOPSLA 2014).
inline constexpr uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;

// Splitmix64's finaliser: a bijection of which every bit depends on all bits of x. The n-th number of the
// generator seeded with s is mix_bits(s + n * kGoldenGamma).
inline uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace qwick
