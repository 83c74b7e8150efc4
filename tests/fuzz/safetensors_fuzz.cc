// Arbitrary bytes as a safetensors file and, when they begin like JSON, as the index of one shard.
// Anything but success or an Error is a bug. Run by tests/fuzz/run.sh.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "format/safetensors.h"

namespace {

constexpr std::string_view kShard(
    "\x38\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}   \0\0\0\0", 68);

template <typename Open>
void expect_success_or_error(Open open) {
  try {
    const qwick::Safetensors file = open();
    for (const qwick::TensorView& tensor : file.tensors()) {
      QWICK_CHECK(qwick::dtype_bytes(tensor.dtype, tensor.n_elements()) == tensor.data.size());
      volatile auto last = tensor.data.back();  // it is inside the file
      (void)last;
    }
  } catch (const qwick::Error& error) {
    QWICK_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  expect_success_or_error([&] {
    return qwick::Safetensors::open_file(qwick::MappedFile::from_memory("fuzz.safetensors", bytes));
  });
  if (size > 0 && data[0] == '{') {
    expect_success_or_error([&] {
      return qwick::Safetensors::open(qwick::FileSet::embedded(
          "set",
          {{"a.safetensors", std::as_bytes(std::span(kShard))}, {"model.safetensors.index.json", bytes}}));
    });
  }
  return 0;
}
