// Whose the cache blocks are. Blocks are remembered by the chain of tokens that leads to their end, so that a
// sequence that begins like an earlier one takes full ones over instead of computing them again, and copies
// the one in which the two part. Blocks are counted by their users; those that nobody uses stay, remembered,
// until their memory is wanted, the least recently used first. Owned by the scheduler, on the engine thread.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "exec/executor.h"

namespace qwick {

// Names the chain of tokens up to the end of a block. Equal keys mean equal tokens: the manager compares
// the tokens themselves, so a collision of hashes only loses a reuse.
using ChainKey = uint64_t;
ChainKey chain_key(ChainKey before, std::span<const int32_t> block_tokens);

class BlockManager {
 public:
  explicit BlockManager(uint32_t n_blocks);

  uint32_t n_blocks() const { return static_cast<uint32_t>(blocks_.size()); }
  uint32_t n_in_use() const { return n_blocks() - n_available(); }
  uint32_t n_available() const { return static_cast<uint32_t>(free_.size() + unused_.size()); }

  uint32_t n_users(int32_t block) const { return blocks_[static_cast<size_t>(block)].n_users; }

  // A block for one user. Forgets the least recently used remembered block where no other is free;
  // nothing when all are in use.
  std::optional<int32_t> allocate();
  // One user fewer; without users a remembered block waits to be reused, any other is free.
  void release(int32_t block);

  // The remembered block with these tokens after that chain, with one user more.
  std::optional<int32_t> reuse(ChainKey before, std::span<const int32_t> tokens);
  // A remembered block that begins like these tokens, fewer than a block, after that chain. It stays as it is
  // until somebody else allocates it, which a copy in the same step may well be earlier than.
  struct Beginning {
    int32_t block = 0;
    uint32_t n_tokens = 0;  // kHeadTokens or more
  };
  std::optional<Beginning> find_beginning(ChainKey before, std::span<const int32_t> tokens);
  // Remembers a block in use, which is full or will not be written to any more. Nothing happens when one of
  // the same chain is remembered already.
  void remember(int32_t block, ChainKey before, std::span<const int32_t> tokens);

 private:
  // Beginnings of blocks are found by their first 4, 8, 12 ... tokens; of blocks with the same, the newest.
  static constexpr uint32_t kHeadTokens = 4;

  struct Block {
    uint32_t n_users = 0;
    bool is_remembered = false;
    ChainKey before = 0;
    ChainKey key = 0;
    std::vector<int32_t> tokens;             // while remembered
    std::list<int32_t>::iterator unused_at;  // while remembered and without users
  };

  void forget(int32_t block);
  // Calls visit(key) for each head of a remembered block.
  void for_each_head(ChainKey before, std::span<const int32_t> tokens, const auto& visit) const;

  std::vector<Block> blocks_;
  std::vector<int32_t> free_;                     // neither used nor remembered
  std::list<int32_t> unused_;                     // remembered without users, least recently used first
  std::unordered_map<ChainKey, int32_t> by_key_;  // remembered blocks
  std::unordered_map<ChainKey, int32_t> by_head_;
};

}  // namespace qwick
