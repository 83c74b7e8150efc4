#include "format/safetensors_writer.h"

#include <array>
#include <bit>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/numeric.h"
#include "format/message.h"

namespace qwick {
namespace {

uint64_t tensor_bytes(const TensorSpec& tensor) {
  if (dtype_info(tensor.dtype).block_size != 1) {
    fail(ErrorCode::kInvalidArgument, "tensor {}: safetensors has no type {}", in_quotes(tensor.name),
         dtype_info(tensor.dtype).name);
  }
  std::optional<uint64_t> n = 1;
  for (const uint64_t dim : tensor.shape) {
    if (n) n = checked_mul(*n, dim);
  }
  if (n) n = dtype_bytes(tensor.dtype, *n);
  if (!n || *n == 0) {
    fail(ErrorCode::kInvalidArgument, "tensor {}: dimensions are zero or their product overflows",
         in_quotes(tensor.name));
  }
  return *n;
}

// The length and the JSON text, padded so that the data starts at a multiple of 8. "format" is what
// transformers asks for. Adds up the sizes in n_bytes.
std::string make_header(const std::vector<TensorSpec>& tensors, uint64_t& n_bytes) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  std::set<std::string_view> names = {"__metadata__"};
  for (const TensorSpec& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      fail(ErrorCode::kInvalidArgument, "tensor {} appears twice", in_quotes(tensor.name));
    }
    const auto end = checked_add(n_bytes, tensor_bytes(tensor));
    if (!end) fail(ErrorCode::kInvalidArgument, "the tensors have more than 2^64 bytes");
    json += fmt::format(R"(,{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", Json(tensor.name).dump(),
                        dtype_info(tensor.dtype).name, Json(tensor.shape).dump(), n_bytes, *end);
    n_bytes = *end;
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const auto length = std::bit_cast<std::array<char, 8>>(uint64_t{json.size()});
  return std::string(length.data(), length.size()) + json;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path, const std::vector<TensorSpec>& tensors)
    : file_(std::move(path)) {
  const std::string header = make_header(tensors, n_bytes_);
  file_.write(std::as_bytes(std::span(header)));
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  QWICK_CHECK(bytes.size() <= n_bytes_ - n_written_);
  file_.write(bytes);
  n_written_ += bytes.size();
}

void SafetensorsWriter::finish() {
  QWICK_CHECK(n_written_ == n_bytes_);
  file_.commit();
}

}  // namespace qwick
