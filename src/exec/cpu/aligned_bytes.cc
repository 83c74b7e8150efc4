#include "exec/cpu/aligned_bytes.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace qwick {

AlignedBytes::AlignedBytes(size_t size) : size_(size) {
  if (size == 0) return;
  void* address =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  ::madvise(address, size, MADV_HUGEPAGE);  // a wish; without it, more misses of the address cache
  data_ = static_cast<uint8_t*>(address);
}

AlignedBytes::AlignedBytes(AlignedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBytes& AlignedBytes::operator=(AlignedBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AlignedBytes::~AlignedBytes() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace qwick
