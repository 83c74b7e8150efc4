// The token table: bytes in one arena, entries by id, an open hash table by bytes. See vocabulary.h.
#include "text/vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/hash.h"

namespace qwick {

Vocabulary::Vocabulary() : slots_(1024), seed_(random_seed()) {}

uint64_t Vocabulary::hash(std::string_view bytes) const {
  return hash_bytes(bytes, seed_);
}

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  arena_.reserve(bytes);
  entries_.reserve(tokens);
  size_t slots = slots_.size();
  while (slots < tokens * 2) slots *= 2;
  if (slots > slots_.size()) rehash(slots);
}

void Vocabulary::insert(uint64_t hash, int32_t id) {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].id >= 0) i = (i + 1) & mask;
  slots_[i] = {static_cast<uint32_t>(hash >> 32), id};
}

void Vocabulary::rehash(size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (slot.id >= 0) insert(hash(bytes(slot.id)), slot.id);
  }
}

Vocabulary::Added Vocabulary::add(int32_t id, std::string_view bytes) {
  if (find(bytes)) return Added::kBytesTaken;
  if (const Added added = add_unlisted(id, bytes); added != Added::kOk) return added;
  if (++listed_ * 2 > slots_.size()) rehash(slots_.size() * 2);
  insert(hash(bytes), id);
  longest_ = std::max(longest_, bytes.size());
  return Added::kOk;
}

Vocabulary::Added Vocabulary::add_unlisted(int32_t id, std::string_view bytes) {
  QWICK_CHECK(id >= 0 && id <= kMaxTokenId && bytes.size() <= kMaxTokenBytes);
  QWICK_CHECK(arena_.size() + bytes.size() < kUnused);
  const auto i = static_cast<size_t>(id);
  if (i >= entries_.size()) entries_.resize(i + 1);
  if (entries_[i].length != kUnused) return Added::kIdTaken;
  entries_[i] = {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size())};
  arena_.append(bytes);
  ++count_;
  return Added::kOk;
}

std::optional<int32_t> Vocabulary::find(std::string_view wanted) const {
  const uint64_t h = hash(wanted);
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(h >> 32);
  for (size_t i = h & mask; slots_[i].id >= 0; i = (i + 1) & mask) {
    if (slots_[i].tag == tag && bytes(slots_[i].id) == wanted) return slots_[i].id;
  }
  return std::nullopt;
}

bool Vocabulary::contains(int32_t id) const {
  return id >= 0 && id < size() && entries_[static_cast<size_t>(id)].length != kUnused;
}

std::string_view Vocabulary::bytes(int32_t id) const {
  if (!contains(id)) return {};
  const Entry& entry = entries_[static_cast<size_t>(id)];
  return {arena_.data() + entry.offset, entry.length};
}

}  // namespace qwick
