// Model files put together in memory by tests, valid or broken in one place. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/numeric.h"
#include "format/tensor.h"

namespace qwick::testing {

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A file of these bytes, which must outlive it.
inline MappedFile memory_file(const std::string& name, std::string_view bytes) {
  return MappedFile::from_memory(name, std::as_bytes(std::span(bytes)));
}

// What the Error thrown by the action says; a failed test when it throws none, or more than a line.
template <typename Action>
std::string error_of(Action action, ErrorCode code = ErrorCode::kInvalidFile) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

// Writes GGUF files. Fields that are normally derived can be set, to break them.
class GgufBuilder {
 public:
  struct Tensor {
    std::string name;
    uint32_t type = 0;           // as in the file: 0 F32, 1 F16, 2 Q4_0, 8 Q8_0, 30 BF16
    std::vector<uint64_t> dims;  // innermost first, as in the file
    uint64_t n_bytes = 0;
    std::optional<uint64_t> offset;
  };

  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> n_tensors, n_keys;
  uint64_t alignment = 32;
  size_t cut = 0;  // bytes left out at the end
  std::vector<Tensor> tensors;

  template <typename T>
  GgufBuilder& number(std::string_view key, uint32_t type, T value) {
    begin(key, type);
    append(metadata_, value);
    return *this;
  }
  GgufBuilder& u32(std::string_view key, uint32_t value) { return number(key, 4, value); }
  GgufBuilder& f32(std::string_view key, float value) { return number(key, 6, value); }
  GgufBuilder& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    string(metadata_, value);
    return *this;
  }
  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    array(key, 8, values.size());
    for (const std::string& value : values) string(metadata_, value);
    return *this;
  }
  // The elements follow as raw bytes.
  GgufBuilder& array(std::string_view key, uint32_t element_type, uint64_t count,
                     std::string_view elements = {}) {
    begin(key, 9);
    append(metadata_, element_type);
    append(metadata_, count);
    metadata_ += elements;
    return *this;
  }
  // F32, zeros.
  GgufBuilder& tensor(std::string_view name, std::vector<uint64_t> dims) {
    uint64_t n_bytes = 4;
    for (const uint64_t dim : dims) n_bytes *= dim;
    tensors.push_back({std::string(name), 0, std::move(dims), n_bytes, std::nullopt});
    return *this;
  }

  std::string build() const {
    std::string out = magic;
    append(out, version);
    append(out, n_tensors.value_or(tensors.size()));
    append(out, n_keys.value_or(n_metadata_));
    out += metadata_;
    uint64_t at = 0;
    for (const Tensor& t : tensors) {
      string(out, t.name);
      append(out, static_cast<uint32_t>(t.dims.size()));
      for (const uint64_t dim : t.dims) append(out, dim);
      append(out, t.type);
      append(out, t.offset.value_or(at));
      at = pad(at + t.n_bytes);
    }
    out.resize(pad(out.size()));
    out.resize(out.size() + at - cut);
    return out;
  }

 private:
  static void string(std::string& out, std::string_view text) {
    append(out, uint64_t{text.size()});
    out += text;
  }
  void begin(std::string_view key, uint32_t type) {
    ++n_metadata_;
    string(metadata_, key);
    append(metadata_, type);
  }
  uint64_t pad(uint64_t n) const { return (n + alignment - 1) / alignment * alignment; }

  std::string metadata_;
  uint64_t n_metadata_ = 0;
};

// A safetensors file of this header and this much data.
inline std::string safetensors_bytes(std::string header, size_t n_bytes, bool padded = true) {
  if (padded) header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string out;
  append(out, uint64_t{header.size()});
  return out + header + std::string(n_bytes, '\0');
}

}  // namespace qwick::testing
