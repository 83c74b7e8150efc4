// Byte-pair encoding: a piece's bytes become tokens by merging, again and again, the adjacent pair
// of the lowest rank, the leftmost first. Called by Tokenizer::encode for every piece; owns the
// vocabulary and the merges. encode_piece is const and safe from several threads at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace qwick {

inline constexpr size_t kMaxMerges = (1u << 22) - 2;

class Bpe {
 public:
  struct Merge {
    int32_t left, right, result;
  };
  // merges in the order of their ranks; their ids are in the vocabulary. Of two with the same parts
  // the later one counts. With ignore_merges a piece that is a token is that token.
  Bpe(Vocabulary vocabulary, std::span<const Merge> merges, bool ignore_merges);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  size_t merge_count() const { return results_.size(); }

  // Appends the ids of a piece. A byte without a token gives nothing. O(n log n).
  void encode_piece(std::string_view piece, std::vector<int32_t>& out) const;

 private:
  static constexpr uint32_t kNoRank = (1u << 22) - 1;
  enum State : uint8_t { kUnknown, kItself, kSplits };  // what the merges make of a token's own bytes

  uint32_t rank_of(uint32_t left, uint32_t right) const;
  void merge_short(std::string_view piece, std::vector<int32_t>& out) const;
  void merge_long(std::string_view piece, std::vector<int32_t>& out) const;
  void insert_pair(uint32_t left, uint32_t right, uint32_t rank);

  Vocabulary vocabulary_;
  bool ignore_merges_;
  std::array<int32_t, 256> byte_tokens_;  // -1: none
  // Pairs to ranks, open addressing: left << 43 | right << 22 | rank in one word.
  std::vector<uint64_t> pairs_;
  uint64_t seed_;
  std::vector<int32_t> results_;  // by rank
  // Learned while encoding, by id: a piece that is a token is not merged twice. Any thread may
  // write; all write the same.
  std::unique_ptr<std::atomic<uint8_t>[]> states_;
};

}  // namespace qwick
