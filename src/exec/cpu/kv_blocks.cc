#include "exec/cpu/kv_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qwick {
namespace {

uint64_t head_block_bytes(uint32_t head_dim, bool has_wide_keys) {
  return kBlockTokens * ((has_wide_keys ? 3 : 2) * uint64_t{head_dim} + 2 * sizeof(float));
}

float largest_magnitude(std::span<const float> x) {
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

// x as whole numbers up to `highest`, each given to put(i, number); returns their scale.
float quantize(std::span<const float> x, float highest, auto&& put) {
  const float largest = largest_magnitude(x);
  const float inverse = largest > 0 ? highest / largest : 0.0F;
  for (uint32_t i = 0; i < x.size(); ++i) put(i, static_cast<int>(std::nearbyint(x[i] * inverse)));
  return largest / highest;
}

}  // namespace

KvBlocks::KvBlocks(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim, bool has_wide_keys,
                   uint32_t n_blocks)
    : n_layers_(n_layers),
      n_kv_heads_(n_kv_heads),
      head_dim_(head_dim),
      has_wide_keys_(has_wide_keys),
      head_bytes_(head_block_bytes(head_dim, has_wide_keys)),
      // Zero pages: scales that nobody wrote are finite.
      bytes_(uint64_t{n_layers} * n_blocks * n_kv_heads * head_bytes_) {}

uint64_t KvBlocks::block_bytes(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim,
                               bool has_wide_keys) {
  return uint64_t{n_layers} * n_kv_heads * head_block_bytes(head_dim, has_wide_keys);
}

void KvBlocks::write(uint32_t layer, uint32_t kv_head, int32_t block, uint32_t slot,
                     std::span<const float> key, std::span<const float> value) noexcept {
  uint8_t* head = bytes_.data() + head_offset(layer, kv_head, block);

  const size_t plane_bytes = size_t{head_dim_} * kBlockTokens;
  uint8_t* values = head + (has_wide_keys_ ? 2 : 1) * plane_bytes;
  uint8_t* scales = values + plane_bytes + sizeof(float) * slot;

  uint8_t* row = head + size_t{slot / kTileRows} * kTileRows * head_dim_ + size_t{4} * (slot % kTileRows);
  const auto key_at = [&](uint32_t d) { return row + size_t{64} * (d / 4) + d % 4; };
  float key_scale = 0;
  if (has_wide_keys_) {
    key_scale = quantize(key, 32767, [&](uint32_t d, int number) {
      *key_at(d) = static_cast<uint8_t>((number >> 8) + 128);
      *(key_at(d) + plane_bytes) = static_cast<uint8_t>(number);
    });
  } else {
    key_scale =
        quantize(key, 127, [&](uint32_t d, int number) { *key_at(d) = static_cast<uint8_t>(number + 128); });
  }
  std::memcpy(scales, &key_scale, sizeof key_scale);

  uint8_t* column = values + size_t{64} * (slot / 4) + slot % 4;
  const float value_scale = quantize(value, 127, [&](uint32_t d, int number) {
    column[size_t{d / 16} * 16 * kBlockTokens + size_t{4} * (d % 16)] = static_cast<uint8_t>(number + 128);
  });
  std::memcpy(scales + sizeof(float) * kBlockTokens, &value_scale, sizeof value_scale);
}

void KvBlocks::copy(BlockCopy copy) noexcept {
  std::memmove(bytes_.data() + head_offset(0, 0, copy.to), bytes_.data() + head_offset(0, 0, copy.from),
               block_bytes(n_layers_, n_kv_heads_, head_dim_, has_wide_keys_));
}

}  // namespace qwick
