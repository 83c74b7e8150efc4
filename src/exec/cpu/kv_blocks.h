// The paged cache: memory for keys and values in blocks of 32 tokens: values
// of 8 bits, keys of 8 or 16. Which block
// belongs to whom is the engine's business; here is where its bytes are and how a token is written.
// Memory is touched only when a block is first written.
#pragma once

#include <cstdint>
#include <span>

#include "exec/cpu/aligned_bytes.h"
#include "exec/cpu/kernels.h"
#include "exec/executor.h"

namespace qwick {

class KvBlocks {
 public:
  KvBlocks(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim, bool has_wide_keys, uint32_t n_blocks);

  // Bytes of one block over all layers and heads.
  static uint64_t block_bytes(uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim, bool has_wide_keys);

  bool has_wide_keys() const { return has_wide_keys_; }
  // What the attention kernel reads: kernels.h, "a block holds".
  const uint8_t* head_block(uint32_t layer, uint32_t kv_head, int32_t block) const {
    return bytes_.data() + head_offset(layer, kv_head, block);
  }

  // Key and value [head_dim] f32 of the token at `slot` (below kBlockTokens) of a block.
  void write(uint32_t layer, uint32_t kv_head, int32_t block, uint32_t slot, std::span<const float> key,
             std::span<const float> value) noexcept;
  void copy(BlockCopy copy) noexcept;

 private:
  uint64_t head_offset(uint32_t layer, uint32_t kv_head, int32_t block) const {
    return ((static_cast<uint64_t>(block) * n_layers_ + layer) * n_kv_heads_ + kv_head) * head_bytes_;
  }

  uint32_t n_layers_;
  uint32_t n_kv_heads_;
  uint32_t head_dim_;
  bool has_wide_keys_;
  uint64_t head_bytes_;  // of one block of one head
  AlignedBytes bytes_;
};

}  // namespace qwick
