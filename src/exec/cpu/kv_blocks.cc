#include "exec/cpu/kv_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>


namespace qwick {
namespace {

uint64_t head_block_bytes(uint32_t head_dim) {
  return kBlockTokens * (2 * uint64_t{head_dim} + 2 * sizeof(float));
}

float largest_magnitude(std::span<const float> x) {
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

// Eight bits with a zero point of 128 for each number; returns their scale.
float quantize(std::span<const float> x, auto&& put) {
  const float largest = largest_magnitude(x);
  const float inverse = largest > 0 ? 127.0F / largest : 0.0F;
  for (uint32_t i = 0; i < x.size(); ++i) {
    put(i, static_cast<uint8_t>(static_cast<int>(std::nearbyint(x[i] * inverse)) + 128));
  }
  return largest / 127.0F;
}

}  // namespace

KvBlocks::KvBlocks(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim, uint32_t n_blocks)
    : n_layers_(n_layers),
      n_kv_heads_(n_kv_heads),
      head_dim_(head_dim),
      n_blocks_(n_blocks),
      head_bytes_(head_block_bytes(head_dim)),
      // Zero pages: scales that nobody wrote are finite.
      bytes_(uint64_t{n_layers} * n_blocks * n_kv_heads * head_bytes_) {}

uint64_t KvBlocks::block_bytes(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim) {
  return uint64_t{n_layers} * n_kv_heads * head_block_bytes(head_dim);
}

void KvBlocks::write(uint32_t layer, uint32_t kv_head, int32_t block, uint32_t slot,
                     std::span<const float> key, std::span<const float> value) noexcept {
  uint8_t* head = bytes_.data() + head_offset(layer, kv_head, block);

  uint8_t* values = head + size_t{head_dim_} * kBlockTokens;
  uint8_t* scales = values + size_t{head_dim_} * kBlockTokens + sizeof(float) * slot;

  uint8_t* row = head + size_t{slot / kTileRows} * kTileRows * head_dim_ + size_t{4} * (slot % kTileRows);
  const float key_scale =
      quantize(key, [&](uint32_t d, uint8_t quant) { row[size_t{64} * (d / 4) + d % 4] = quant; });
  std::memcpy(scales, &key_scale, sizeof key_scale);

  uint8_t* column = values + size_t{64} * (slot / 4) + slot % 4;
  const float value_scale = quantize(value, [&](uint32_t d, uint8_t quant) {
    column[size_t{d / 16} * 16 * kBlockTokens + size_t{4} * (d % 16)] = quant;
  });
  std::memcpy(scales + sizeof(float) * kBlockTokens, &value_scale, sizeof value_scale);
}

}  // namespace qwick
