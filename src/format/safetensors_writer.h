// Writes a safetensors file from beginning to end without holding it: `qwick synth` uses it.
//
//   SafetensorsWriter writer("out/model.safetensors", {{"a", DType::kF32, {2, 3}}});
//   writer.write(bytes);  // of all tensors in the order of the list, in pieces of any size
//   writer.finish();
//
// The file appears under its name only when finish() has put everything on the disk (base/file.h,
// NewFile). Throws Error kIo (disk full and the like).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "format/tensor.h"

namespace qwick {

struct TensorSpec {
  std::string name;  // valid UTF-8
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // no dimension is zero
};

class SafetensorsWriter {
 public:
  // Names must differ, types be F32, F16 or BF16: throws Error kInvalidArgument otherwise.
  SafetensorsWriter(std::filesystem::path path, const std::vector<TensorSpec>& tensors);

  uint64_t n_bytes() const { return n_bytes_; }  // of all tensors
  void write(std::span<const std::byte> bytes);
  // All bytes must have been written. No write() afterwards.
  void finish();

 private:
  NewFile file_;
  uint64_t n_bytes_ = 0;
  uint64_t n_written_ = 0;
};

}  // namespace qwick
