// Token ids and their bytes, both ways. Filled by the readers of tokenizer files, owned by Bpe.
// After loading immutable and safe to share between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

inline constexpr int32_t kMaxTokenId = (1 << 21) - 2;  // far beyond any model; bounds what a file can ask for
inline constexpr size_t kMaxTokenBytes = 1 << 16;

class Vocabulary {
 public:
  Vocabulary();

  void reserve(size_t tokens, size_t bytes);
  enum class Added { kOk, kIdTaken, kBytesTaken };
  // 0 <= id <= kMaxTokenId, bytes.size() <= kMaxTokenBytes.
  Added add(int32_t id, std::string_view bytes);
  // A token that has bytes but is not found by them: text never becomes it.
  Added add_unlisted(int32_t id, std::string_view bytes);

  std::optional<int32_t> find(std::string_view bytes) const;
  std::string_view bytes(int32_t id) const;  // "" where !contains(id)
  bool contains(int32_t id) const;
  int32_t size() const { return static_cast<int32_t>(entries_.size()); }  // largest id + 1
  size_t count() const { return count_; }
  size_t longest() const { return longest_; }  // bytes of the longest token that find() knows

 private:
  struct Entry {
    uint32_t offset = 0;
    uint32_t length = kUnused;
  };
  struct Slot {
    uint32_t tag = 0;  // upper half of the hash
    int32_t id = -1;   // -1: empty
  };
  static constexpr uint32_t kUnused = UINT32_MAX;

  uint64_t hash(std::string_view bytes) const;
  void insert(uint64_t hash, int32_t id);
  void rehash(size_t slots);

  std::string arena_;
  std::vector<Entry> entries_;  // by id
  std::vector<Slot> slots_;     // open addressing, a power of two, at most half full
  uint64_t seed_;               // random: the author of a file can't aim at collisions
  size_t listed_ = 0;
  size_t count_ = 0;
  size_t longest_ = 0;
};

}  // namespace qwick
