// A vector whose new elements are not set: for buffers that are written before they are read, so that
// memory nobody has used yet is not touched (and not resident).
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace qwick {

template <typename T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivial_v<T>);
  template <typename U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
};

template <typename T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace qwick
