// The parser behind GgufFile::open: one pass over the header of a mapped GGUF file. Owns nothing but
// what it has read so far; every view points into the mapping.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/gguf.h"

namespace qwick {

class GgufReader {
 public:
  GgufReader(std::string_view file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  // In this order, each once.
  uint32_t read_preamble();  // magic, version, counts; returns the version
  std::map<std::string, GgufValue, std::less<>> read_metadata();
  std::vector<TensorView> read_tensors(const std::map<std::string, GgufValue, std::less<>>& metadata);

 private:
  struct TensorInfo;

  uint64_t remaining() const { return bytes_.size() - at_; }
  void need(uint64_t n_bytes, std::string_view what) const;
  template <typename T>
  T read(std::string_view what);
  std::string_view read_string(std::string_view what);
  GgufValue read_value(uint32_t type, const std::string& what);
  GgufValue read_array(const std::string& what);
  template <typename Wide, typename Stored>
  std::vector<Wide> read_numbers(uint64_t count);
  bool read_bool(const std::string& what);
  TensorInfo read_tensor_info();
  void place(TensorView& tensor, const TensorInfo& info, uint64_t data_start) const;

  std::string_view file_;
  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;
  uint64_t n_tensors_ = 0;
  uint64_t n_keys_ = 0;
  uint64_t n_array_elements_ = 0;  // in all arrays so far
};

}  // namespace qwick
