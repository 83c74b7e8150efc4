// Owned memory for what is streamed: zero pages, in huge pages where the system gives them, touched
// only when used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qwick {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size);  // throws std::bad_alloc
  AlignedBytes(AlignedBytes&& other) noexcept;
  AlignedBytes& operator=(AlignedBytes&& other) noexcept;
  ~AlignedBytes();

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace qwick
