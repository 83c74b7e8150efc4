// Writes a safetensors file from beginning to end without holding it: `qwick synth` uses it.
//
//   SafetensorsWriter writer("out/model.safetensors", {{"a", DType::kF32, {2, 3}}});
//   writer.write(bytes);  // of all tensors in the order of the list, in pieces of any size
//   writer.finish();
//
// The file appears under its name only when finish() has put everything on the disk; until then it is
// NAME.tmp, which a writer that never finishes removes. Throws Error kIo (disk full and the like).
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;
  ~SafetensorsWriter();

  uint64_t n_bytes() const { return n_bytes_; }  // of all tensors
  void write(std::span<const std::byte> bytes);
  // All bytes must have been written. No write() afterwards.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void put(std::span<const std::byte> bytes);
  [[noreturn]] void io_error(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t n_bytes_ = 0;
  uint64_t n_written_ = 0;
  bool finished_ = false;
};

}  // namespace qwick
