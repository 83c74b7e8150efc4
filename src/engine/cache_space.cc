#include "engine/cache_space.h"

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <random>

namespace qwick {
namespace {

using Secret = std::array<uint32_t, 48>;  // 192 bytes, more than XXH3_SECRET_SIZE_MIN
static_assert(sizeof(Secret) >= XXH3_SECRET_SIZE_MIN);

Secret random_secret() {
  std::random_device random;
  Secret secret{};
  for (uint32_t& word : secret) word = random();
  return secret;
}

}  // namespace

uint64_t cache_space(std::string_view name) {
  static const Secret secret = random_secret();
  if (name.empty()) return 0;
  return XXH3_64bits_withSecret(name.data(), name.size(), secret.data(), sizeof secret);
}

}  // namespace qwick
