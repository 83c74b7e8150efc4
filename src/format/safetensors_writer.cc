#include "format/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>
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

// A renamed file outlives a crash only when its directory has been written as well. Some file
// systems can't do that; the file is complete either way.
void sync_directory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path, const std::vector<TensorSpec>& tensors)
    : path_(std::move(path)), temporary_(path_.string() + ".tmp") {
  const std::string header = make_header(tensors, n_bytes_);
  file_.reset(std::fopen(temporary_.c_str(), "wb"));
  if (!file_) io_error(errno);
  try {
    put(std::as_bytes(std::span(header)));
  } catch (...) {  // no destructor runs
    ::unlink(temporary_.c_str());
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() {
  file_.reset();
  if (!finished_) ::unlink(temporary_.c_str());
}

void SafetensorsWriter::io_error(int error) const {
  fail(ErrorCode::kIo, "{}: can't write it: {}", temporary_.string(), std::generic_category().message(error));
}

void SafetensorsWriter::put(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) io_error(errno);
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  QWICK_CHECK(!finished_ && bytes.size() <= n_bytes_ - n_written_);
  put(bytes);
  n_written_ += bytes.size();
}

void SafetensorsWriter::finish() {
  QWICK_CHECK(!finished_ && n_written_ == n_bytes_);
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) io_error(errno);
  if (std::fclose(file_.release()) != 0) io_error(errno);
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error)
    fail(ErrorCode::kIo, "{}: can't rename it from {}: {}", path_.string(), temporary_.string(),
         error.message());
  finished_ = true;
  sync_directory(path_.parent_path());
}

}  // namespace qwick
