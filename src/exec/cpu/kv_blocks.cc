#include "exec/cpu/kv_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/numeric.h"

namespace qwick {
namespace {

uint64_t key_tile_bytes(uint32_t head_dim) {
  const uint64_t n_groups = head_dim / kGroup;
  return (n_groups * (kTileRows * kGroup + 2 * kTileRows) + 63) / 64 * 64;
}

uint64_t key_bytes(uint32_t head_dim) {
  return key_tile_bytes(head_dim) * (kBlockTokens / kTileRows);
}

uint64_t head_block_bytes(uint32_t head_dim) {
  return key_bytes(head_dim) + uint64_t{head_dim} * kBlockTokens + sizeof(float) * kBlockTokens;
}

float largest_magnitude(std::span<const float> x) {
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

int8_t to_int8(float x) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(x), -127.0F, 127.0F));
}

}  // namespace

KvBlocks::KvBlocks(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim, uint32_t n_blocks)
    : n_kv_heads_(n_kv_heads),
      head_dim_(head_dim),
      n_blocks_(n_blocks),
      head_bytes_(head_block_bytes(head_dim)),
      total_bytes_(uint64_t{n_layers} * n_blocks * n_kv_heads * head_bytes_) {
  // Zero pages: scales that nobody wrote are finite.
  void* address = ::mmap(nullptr, total_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    fail(ErrorCode::kIo, "no address space for a cache of {} MiB", total_bytes_ >> 20);
  data_ = static_cast<uint8_t*>(address);
}

KvBlocks::~KvBlocks() {
  ::munmap(data_, total_bytes_);
}

uint64_t KvBlocks::block_bytes(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim) {
  return uint64_t{n_layers} * n_kv_heads * head_block_bytes(head_dim);
}

void KvBlocks::write(uint32_t layer, uint32_t kv_head, int32_t block, uint32_t slot,
                     std::span<const float> key, std::span<const float> value) noexcept {
  uint8_t* head = data_ + head_offset(layer, kv_head, block);

  // The key: row slot % 16 of its q8 tile, an f16 scale for each 32 dimensions.
  const uint32_t n_groups = head_dim_ / kGroup;
  const uint32_t row = slot % kTileRows;
  uint8_t* tile = head + slot / kTileRows * key_tile_bytes(head_dim_);
  uint8_t* scales = tile + size_t{n_groups} * kTileRows * kGroup;
  for (uint32_t group = 0; group < n_groups; ++group) {
    const auto numbers = key.subspan(size_t{group} * kGroup, kGroup);
    const uint16_t scale = f32_to_f16(largest_magnitude(numbers) / 127.0F);
    const float inverse = scale != 0 ? 1.0F / f16_to_f32(scale) : 0.0F;
    uint8_t* quants = tile + size_t{group} * kTileRows * kGroup + size_t{4} * row;
    for (uint32_t i = 0; i < kGroup; ++i) {
      quants[size_t{64} * (i / 4) + i % 4] = static_cast<uint8_t>(to_int8(numbers[i] * inverse)) ^ 0x80;
    }
    std::memcpy(scales + size_t{2} * (group * kTileRows + row), &scale, sizeof scale);
  }

  // The value: one column of every tile of 16 dimensions, one scale.
  uint8_t* values = head + key_bytes(head_dim_);
  const float scale = largest_magnitude(value) / 127.0F;
  const float inverse = scale > 0 ? 1.0F / scale : 0.0F;
  for (uint32_t d = 0; d < head_dim_; ++d) {
    values[size_t{d / 16} * 16 * kBlockTokens + size_t{64} * (slot / 4) + size_t{4} * (d % 16) + slot % 4] =
        static_cast<uint8_t>(to_int8(value[d] * inverse));
  }
  std::memcpy(values + size_t{head_dim_} * kBlockTokens + sizeof(float) * slot, &scale, sizeof scale);
}

}  // namespace qwick
