// Numbers that look random and depend on their argument alone.
#pragma once

#include <cstdint>

namespace qwick {

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace qwick
