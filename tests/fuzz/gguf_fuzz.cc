// Arbitrary bytes as a GGUF file: parsed, opened as a model, its small tensors dequantized. Anything
// but success or an Error is a bug. Run by tests/fuzz/run.sh.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "format/dequantize.h"
#include "model/model.h"

namespace {

void read_tensors(const qwick::GgufFile& file) {
  constexpr uint64_t kSmall = 4096;
  std::vector<float> out;
  for (const qwick::TensorView& tensor : file.tensors()) {
    const uint64_t n = tensor.n_elements();
    QWICK_CHECK(qwick::dtype_bytes(tensor.dtype, n) == tensor.data.size());
    if (n > kSmall) continue;
    out.resize(n);
    qwick::dequantize(tensor.dtype, tensor.data, out);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    auto file = std::make_shared<const qwick::GgufFile>(
        qwick::GgufFile::open(qwick::MappedFile::from_memory("fuzz.gguf", bytes)));
    read_tensors(*file);
    const qwick::Model model = qwick::Model::open(std::move(file));
    QWICK_CHECK(!model.weights().layers.empty() && !model.config().name.empty());
  } catch (const qwick::Error& error) {
    QWICK_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
