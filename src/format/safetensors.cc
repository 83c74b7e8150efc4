#include "format/safetensors.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/numeric.h"
#include "format/message.h"
#include "format/safetensors_header.h"

namespace qwick {
namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the Rust library
constexpr uint64_t kMaxIndexBytes = 100'000'000;

DType parse_dtype(const SafetensorsEntry& entry, std::string_view file) {
  if (entry.dtype == "F32") return DType::kF32;
  if (entry.dtype == "F16") return DType::kF16;
  if (entry.dtype == "BF16") return DType::kBF16;
  fail(ErrorCode::kUnsupported, "{}: tensor {}: type {} can't be read (F32, F16 and BF16 can)", file,
       in_quotes(entry.name), in_quotes(entry.dtype));
}

// The length of the header; the data section starts 8 bytes after its end.
uint64_t read_header_length(const MappedFile& file) {
  const auto bytes = file.bytes();
  if (bytes.size() < 8) {
    invalid_file("{}: truncated: {} bytes, too short for the header's length", file.name(), bytes.size());
  }
  const auto length = load<uint64_t>(bytes.data());
  if (length > kMaxHeaderBytes) {
    invalid_file("{}: the header's length at offset 0 is {}, more than {}; is this a safetensors file?",
                 file.name(), length, kMaxHeaderBytes);
  }
  if (length > bytes.size() - 8) {
    invalid_file("{}: truncated: a header of {} bytes at offset 8, the file ends after {}", file.name(),
                 length, bytes.size() - 8);
  }
  return length;
}

TensorView check_entry(const SafetensorsEntry& entry, const MappedFile& file, uint64_t data_start) {
  const std::string name = in_quotes(entry.name);
  const auto data = file.bytes().subspan(data_start);
  const DType dtype = parse_dtype(entry, file.name());
  const uint64_t begin = entry.data_offsets[0];
  const uint64_t end = entry.data_offsets[1];
  if (begin > end || end > data.size()) {
    invalid_file(
        "{}: tensor {}: data_offsets [{}, {}] lie beyond the {} bytes of data at offset {}; the download "
        "may be incomplete",
        file.name(), name, begin, end, data.size(), data_start);
  }
  uint64_t n_elements = 1;
  for (const uint64_t dim : entry.shape) {
    const auto product = checked_mul(n_elements, dim);
    if (!product || *product == 0) {
      invalid_file("{}: tensor {}: dimensions are zero or their product overflows", file.name(), name);
    }
    n_elements = *product;
  }
  const auto n_bytes = dtype_bytes(dtype, n_elements);
  if (n_bytes != end - begin) {
    invalid_file("{}: tensor {}: data_offsets [{}, {}] give {} bytes, its shape and type {}", file.name(),
                 name, begin, end, end - begin, n_bytes ? fmt::format("{}", *n_bytes) : "more than 2^64");
  }
  if ((data_start + begin) % dtype_info(dtype).block_bytes != 0) {
    invalid_file(
        "{}: tensor {}: misaligned: its data at offset {} is not a multiple of the {} bytes of {}; write "
        "the file again with a current safetensors library",
        file.name(), name, data_start + begin, dtype_info(dtype).block_bytes, entry.dtype);
  }
  return {entry.name, dtype, entry.shape, data.subspan(begin, end - begin)};
}

// The file's tensors in the order of their bytes, which must follow each other without gap or overlap.
std::vector<TensorView> read_tensors(const MappedFile& file) {
  const uint64_t header_length = read_header_length(file);
  const std::string_view header = file.text().substr(8, header_length);
  if (!header.starts_with('{')) {
    invalid_file("{}: the header at offset 8 is no JSON object; is this a safetensors file?", file.name());
  }
  const uint64_t data_start = 8 + header_length;
  std::vector<TensorView> tensors;
  for (const SafetensorsEntry& entry : parse_safetensors_header(header, file.name())) {
    tensors.push_back(check_entry(entry, file, data_start));
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.data.data() < b.data.data(); });
  const std::byte* at = file.bytes().data() + data_start;
  for (const TensorView& tensor : tensors) {
    if (tensor.data.data() != at) {
      invalid_file("{}: tensor {} {} at offset {}", file.name(), in_quotes(tensor.name),
                   tensor.data.data() < at ? "overlaps another" : "comes after a hole",
                   at - file.bytes().data());
    }
    at += tensor.data.size();
  }
  const auto end = static_cast<uint64_t>(at - file.bytes().data());
  if (end != file.bytes().size()) {
    invalid_file("{}: {} bytes at offset {} belong to no tensor", file.name(), file.bytes().size() - end,
                 end);
  }
  return tensors;
}

}  // namespace

Safetensors Safetensors::open_file(MappedFile file) {
  Safetensors result;
  result.tensors_ = read_tensors(file);
  result.files_.push_back(std::move(file));
  return result;
}

Safetensors Safetensors::open(const FileSet& files) {
  if (auto single = files.find(kSingleFile)) return open_file(std::move(*single));
  const auto index = files.find(kIndexFile);
  if (!index) {
    fail(ErrorCode::kNotFound, "{}: neither {} nor {}", files.name(), kSingleFile, kIndexFile);
  }
  if (index->bytes().size() > kMaxIndexBytes) {
    invalid_file("{}: {} bytes, more than {}", index->name(), index->bytes().size(), kMaxIndexBytes);
  }
  const auto weight_map = parse_safetensors_index(index->text(), index->name());
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : weight_map) shards.insert(shard);

  Safetensors result;
  size_t n_found = 0;
  for (const std::string& shard : shards) {
    if (!shard.ends_with(".safetensors")) {
      invalid_file("{}: shard {} is no .safetensors file", index->name(), in_quotes(shard));
    }
    MappedFile file = files.open(shard);
    for (TensorView& tensor : read_tensors(file)) {
      const auto named = weight_map.find(tensor.name);
      if (named == weight_map.end() || named->second != shard) {
        invalid_file("{}: tensor {} is not there according to {}", file.name(), in_quotes(tensor.name),
                     kIndexFile);
      }
      ++n_found;
      result.tensors_.push_back(std::move(tensor));
    }
    result.files_.push_back(std::move(file));
  }
  if (n_found == weight_map.size()) return result;
  std::set<std::string_view> found;
  for (const TensorView& tensor : result.tensors_) found.insert(tensor.name);
  for (const auto& [tensor, shard] : weight_map) {
    if (!found.contains(tensor))
      invalid_file("{}: tensor {} is not in {}", index->name(), in_quotes(tensor), shard);
  }
  return result;
}

}  // namespace qwick
