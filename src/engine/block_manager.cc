#include "engine/block_manager.h"

#include <xxhash.h>

#include <algorithm>

#include "base/check.h"

namespace qwick {

ChainKey chain_key(ChainKey before, std::span<const int32_t> block_tokens) {
  return XXH3_64bits_withSeed(block_tokens.data(), block_tokens.size_bytes(), before);
}

BlockManager::BlockManager(uint32_t n_blocks) : blocks_(n_blocks) {
  for (uint32_t block = n_blocks; block > 0; --block) free_.push_back(static_cast<int32_t>(block - 1));
}

std::optional<int32_t> BlockManager::allocate() {
  if (free_.empty()) {
    if (unused_.empty()) return std::nullopt;
    const int32_t oldest = unused_.front();
    forget(oldest);
    unused_.pop_front();
    free_.push_back(oldest);
  }
  const int32_t block = free_.back();
  free_.pop_back();
  blocks_[static_cast<size_t>(block)].n_users = 1;
  return block;
}

void BlockManager::release(int32_t id) {
  Block& block = blocks_[static_cast<size_t>(id)];
  QWICK_CHECK(block.n_users > 0);
  if (--block.n_users > 0) return;
  if (block.is_remembered) {
    block.unused_at = unused_.insert(unused_.end(), id);
  } else {
    free_.push_back(id);
  }
}

std::optional<int32_t> BlockManager::reuse(ChainKey before, std::span<const int32_t> tokens) {
  const auto found = by_key_.find(chain_key(before, tokens));
  if (found == by_key_.end()) return std::nullopt;
  Block& block = blocks_[static_cast<size_t>(found->second)];
  if (block.before != before ||
      !std::equal(tokens.begin(), tokens.end(), block.tokens.begin(), block.tokens.end())) {
    return std::nullopt;
  }
  if (block.n_users++ == 0) unused_.erase(block.unused_at);
  return found->second;
}

void BlockManager::for_each_head(ChainKey before, std::span<const int32_t> tokens, const auto& visit) const {
  for (size_t n = kHeadTokens; n <= std::min<size_t>(tokens.size(), kCacheBlockTokens - 1); n += kHeadTokens)
    visit(chain_key(before, tokens.first(n)));
}

std::optional<BlockManager::Beginning> BlockManager::find_beginning(ChainKey before,
                                                                    std::span<const int32_t> tokens) {
  Beginning best;
  for_each_head(before, tokens, [&](ChainKey key) {
    const auto found = by_head_.find(key);
    if (found == by_head_.end()) return;
    const Block& block = blocks_[static_cast<size_t>(found->second)];
    if (block.before != before) return;
    const auto [end, other_end] = std::ranges::mismatch(tokens, block.tokens);
    const auto n_alike = static_cast<uint32_t>(end - tokens.begin());
    if (n_alike >= kHeadTokens && n_alike > best.n_tokens) best = {found->second, n_alike};
  });
  if (best.n_tokens == 0) return std::nullopt;
  Block& block = blocks_[static_cast<size_t>(best.block)];
  if (block.n_users == 0) unused_.splice(unused_.end(), unused_, block.unused_at);
  return best;
}

void BlockManager::remember(int32_t id, ChainKey before, std::span<const int32_t> tokens) {
  Block& block = blocks_[static_cast<size_t>(id)];
  QWICK_CHECK(block.n_users > 0 && !tokens.empty() && tokens.size() <= kCacheBlockTokens);
  const ChainKey key = chain_key(before, tokens);
  if (block.is_remembered || !by_key_.emplace(key, id).second) return;
  block.is_remembered = true;
  block.before = before;
  block.key = key;
  block.tokens.assign(tokens.begin(), tokens.end());
  for_each_head(before, tokens, [&](ChainKey head) { by_head_.insert_or_assign(head, id); });
}

void BlockManager::forget(int32_t id) {
  Block& block = blocks_[static_cast<size_t>(id)];
  by_key_.erase(block.key);
  for_each_head(block.before, block.tokens, [&](ChainKey head) {
    if (const auto found = by_head_.find(head); found != by_head_.end() && found->second == id)
      by_head_.erase(found);
  });
  block.is_remembered = false;
}

}  // namespace qwick
