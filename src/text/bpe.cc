// The merge loops. Short pieces search the lowest rank in an array, long ones keep a heap.
#include "text/bpe.h"

#include <algorithm>
#include <functional>

#include "text/hash.h"

namespace qwick {
namespace {

constexpr size_t kShortPiece = 64;  // bytes
constexpr int kRankBits = 22;
constexpr int kIdBits = 21;
constexpr uint64_t kEmpty = UINT64_MAX;
static_assert(kMaxTokenId < (1 << kIdBits) - 1 && kRankBits + 2 * kIdBits == 64);

uint64_t pair_key(uint32_t left, uint32_t right) {
  return uint64_t{left} << kIdBits | right;
}

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, std::span<const Merge> merges, bool ignore_merges)
    : vocabulary_(std::move(vocabulary)),
      ignore_merges_(ignore_merges),
      seed_(random_seed()),
      states_(std::make_unique<std::atomic<uint8_t>[]>(static_cast<size_t>(vocabulary_.size()))) {
  for (size_t byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_tokens_[byte] = vocabulary_.find({&c, 1}).value_or(-1);
  }
  size_t slots = 1024;
  while (slots * 3 < merges.size() * 5) slots *= 2;  // at most 3/5 full
  pairs_.assign(slots, kEmpty);
  results_.reserve(merges.size());
  for (const Merge& merge : merges) {
    insert_pair(static_cast<uint32_t>(merge.left), static_cast<uint32_t>(merge.right),
                static_cast<uint32_t>(results_.size()));
    results_.push_back(merge.result);
  }
}

void Bpe::insert_pair(uint32_t left, uint32_t right, uint32_t rank) {
  const uint64_t key = pair_key(left, right);
  const size_t mask = pairs_.size() - 1;
  size_t i = mix(key, seed_) & mask;
  while (pairs_[i] != kEmpty && pairs_[i] >> kRankBits != key) i = (i + 1) & mask;
  pairs_[i] = key << kRankBits | rank;
}

uint32_t Bpe::rank_of(uint32_t left, uint32_t right) const {
  const uint64_t key = pair_key(left, right);
  const size_t mask = pairs_.size() - 1;
  for (size_t i = mix(key, seed_) & mask;; i = (i + 1) & mask) {
    const uint64_t slot = pairs_[i];
    if (slot >> kRankBits == key) return static_cast<uint32_t>(slot) & kNoRank;
    if (slot == kEmpty) return kNoRank;
  }
}

void Bpe::encode_piece(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.size() == 1) {
    const int32_t id = byte_tokens_[static_cast<unsigned char>(piece[0])];
    if (id >= 0) out.push_back(id);
    return;
  }
  const auto merge = [&] {
    if (piece.size() <= kShortPiece) {
      merge_short(piece, out);
    } else {
      merge_long(piece, out);
    }
  };
  const std::optional<int32_t> whole =
      piece.size() <= vocabulary_.longest() ? vocabulary_.find(piece) : std::nullopt;
  if (!whole) return merge();
  std::atomic<uint8_t>& state = states_[static_cast<size_t>(*whole)];
  if (ignore_merges_ || state.load(std::memory_order_relaxed) == kItself) {
    out.push_back(*whole);
    return;
  }
  const size_t before = out.size();
  merge();
  const bool itself = out.size() == before + 1 && out.back() == *whole;
  if (state.load(std::memory_order_relaxed) == kUnknown) {
    state.store(itself ? kItself : kSplits, std::memory_order_relaxed);
  }
}

void Bpe::merge_short(std::string_view piece, std::vector<int32_t>& out) const {
  std::array<uint32_t, kShortPiece> ids;
  std::array<uint32_t, kShortPiece + 1> ranks;  // ranks[i]: of ids[i] and ids[i + 1]
  size_t n = 0;
  for (const char c : piece) {
    const int32_t id = byte_tokens_[static_cast<unsigned char>(c)];
    if (id >= 0) ids[n++] = static_cast<uint32_t>(id);
  }
  for (size_t i = 0; i + 1 < n; ++i) ranks[i] = rank_of(ids[i], ids[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNoRank) break;
    ids[best] = static_cast<uint32_t>(results_[ranks[best]]);
    --n;
    for (size_t i = best + 1; i < n; ++i) {
      ids[i] = ids[i + 1];
      ranks[i - 1] = ranks[i];
    }
    if (best > 0) ranks[best - 1] = rank_of(ids[best - 1], ids[best]);
    if (best + 1 < n) ranks[best] = rank_of(ids[best], ids[best + 1]);
  }
  for (size_t i = 0; i < n; ++i) out.push_back(static_cast<int32_t>(ids[i]));
}

void Bpe::merge_long(std::string_view piece, std::vector<int32_t>& out) const {
  // A list of symbols over indices that stay; rank is that of the pair of a symbol and its next one.
  // Heap entries (rank << 32 | index) whose rank is no longer the symbol's are out of date.
  constexpr uint32_t kEnd = UINT32_MAX;
  struct Symbol {
    uint32_t id, previous, next, rank;
  };
  std::vector<Symbol> symbols;
  symbols.reserve(piece.size());
  for (const char c : piece) {
    const int32_t id = byte_tokens_[static_cast<unsigned char>(c)];
    if (id < 0) continue;
    const auto index = static_cast<uint32_t>(symbols.size());
    symbols.push_back({static_cast<uint32_t>(id), index - 1, index + 1, kNoRank});
  }
  if (symbols.empty()) return;
  symbols.front().previous = kEnd;
  symbols.back().next = kEnd;

  // The first pairs are many and need no heap: sorted, they are a queue beside it.
  std::vector<uint64_t> first;
  std::vector<uint64_t> heap;
  first.reserve(symbols.size());
  for (uint32_t i = 0; i + 1 < symbols.size(); ++i) {
    symbols[i].rank = rank_of(symbols[i].id, symbols[i + 1].id);
    if (symbols[i].rank != kNoRank) first.push_back(uint64_t{symbols[i].rank} << 32 | i);
  }
  std::sort(first.begin(), first.end());

  const auto update = [&](uint32_t i) {
    Symbol& symbol = symbols[i];
    symbol.rank = symbol.next == kEnd ? kNoRank : rank_of(symbol.id, symbols[symbol.next].id);
    if (symbol.rank == kNoRank) return;
    heap.push_back(uint64_t{symbol.rank} << 32 | i);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  auto queue = first.begin();
  while (queue != first.end() || !heap.empty()) {
    uint64_t top = 0;
    if (heap.empty() || (queue != first.end() && *queue < heap.front())) {
      top = *queue++;
    } else {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      top = heap.back();
      heap.pop_back();
    }
    const auto i = static_cast<uint32_t>(top);
    const auto rank = static_cast<uint32_t>(top >> 32);
    Symbol& symbol = symbols[i];
    if (symbol.rank != rank) continue;
    Symbol& absorbed = symbols[symbol.next];
    absorbed.rank = kNoRank;
    symbol.id = static_cast<uint32_t>(results_[rank]);
    symbol.next = absorbed.next;
    if (symbol.next != kEnd) symbols[symbol.next].previous = i;
    update(i);
    if (symbol.previous != kEnd) update(symbol.previous);
  }
  for (uint32_t i = 0; i != kEnd; i = symbols[i].next) out.push_back(static_cast<int32_t>(symbols[i].id));
}

}  // namespace qwick
