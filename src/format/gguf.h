// GGUF version 2 and 3 (the file format of llama.cpp): metadata and tensors in one mapped file.
// Called by model/ (configuration, weights) and text/ (tokenizer, chat template).
// Everything read is checked; a broken file throws Error kInvalidFile with the file, the name and
// the byte offset. Well-formed files with tensor types that qwick can't read, version 1 and
// big-endian files: kUnsupported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "format/tensor.h"

namespace qwick {

// Arrays of numbers keep their values widened; strings are views into the mapping.
using GgufValue =
    std::variant<uint64_t, int64_t, double, bool, std::string_view, std::vector<uint64_t>,
                 std::vector<int64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string_view>>;

class GgufFile {
 public:
  static GgufFile open(MappedFile file);

  const std::string& name() const { return file_.name(); }
  uint64_t n_bytes() const { return file_.bytes().size(); }
  const MappedFile& file() const { return file_; }
  uint32_t version() const { return version_; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  const std::vector<TensorView>& tensors() const { return tensors_; }  // in the file's order

  const GgufValue* find(std::string_view key) const;
  // The value in the type asked for (any integer width; non-negative where unsigned is asked; numbers
  // as double). The plain ones throw when the key is missing, the optional ones only when the type
  // is wrong. Strings are not checked to be UTF-8.
  uint64_t get_uint(std::string_view key) const;
  double get_float(std::string_view key) const;
  std::string_view get_string(std::string_view key) const;
  const std::vector<std::string_view>& get_strings(std::string_view key) const;
  std::optional<uint64_t> find_uint(std::string_view key) const;
  std::optional<double> find_float(std::string_view key) const;
  std::optional<bool> find_bool(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;
  std::optional<std::vector<int64_t>> find_ints(std::string_view key) const;  // arrays of any integer type
  std::optional<std::vector<double>> find_floats(std::string_view key) const;

 private:
  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}

  [[noreturn]] void missing(std::string_view key) const;
  [[noreturn]] void wrong_type(std::string_view key, std::string_view wanted) const;

  MappedFile file_;
  uint32_t version_ = 0;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<TensorView> tensors_;
};

}  // namespace qwick
