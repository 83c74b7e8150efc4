#include "format/gguf_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "base/error.h"
#include "base/numeric.h"
#include "format/message.h"

namespace qwick {
namespace {

// What no real file comes near, and what keeps memory and time small for a hostile one.
constexpr uint64_t kMaxKeys = 1 << 16;
constexpr uint64_t kMaxTensors = 1 << 17;
constexpr uint64_t kMaxArrayElements = 1 << 24;  // over all arrays; a vocabulary has 300,000
constexpr uint64_t kMaxKeyBytes = 65535;         // the specification's
constexpr uint64_t kMaxTensorNameBytes = 64;     // the specification's
constexpr uint32_t kMaxDims = 4;                 // the specification's
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint64_t kDefaultAlignment = 32;

enum ValueType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// Types by number, as ggml.h has them; numbers that were given up have no name. Those that qwick
// reads have a DType.
struct TensorType {
  uint32_t number;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr std::array<TensorType, 35> kTensorTypes = {{
    {0, "F32", DType::kF32},
    {1, "F16", DType::kF16},
    {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},
    {6, "Q5_0", DType::kQ5_0},
    {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", {}},
    {11, "Q3_K", {}},
    {12, "Q4_K", DType::kQ4K},
    {13, "Q5_K", DType::kQ5K},
    {14, "Q6_K", DType::kQ6K},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},
    {24, "I8", {}},
    {25, "I16", {}},
    {26, "I32", {}},
    {27, "I64", {}},
    {28, "F64", {}},
    {29, "IQ1_M", {}},
    {30, "BF16", DType::kBF16},
    {31, "Q4_0_4_4", {}},
    {32, "Q4_0_4_8", {}},
    {33, "Q4_0_8_8", {}},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {39, "MXFP4", {}},
}};

uint64_t align_up(uint64_t x, uint64_t alignment) {
  return (x + alignment - 1) & ~(alignment - 1);
}

uint64_t alignment_of(std::string_view file, const std::map<std::string, GgufValue, std::less<>>& metadata) {
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return kDefaultAlignment;
  const auto* value = std::get_if<uint64_t>(&found->second);
  if (value == nullptr || *value < 8 || *value > kMaxAlignment || !std::has_single_bit(*value)) {
    invalid_file("{}: general.alignment must be a power of two from 8 to {}{}", file, kMaxAlignment,
                 value == nullptr ? "" : fmt::format(", found {}", *value));
  }
  return *value;
}

}  // namespace

void GgufReader::need(uint64_t n_bytes, std::string_view what) const {
  if (n_bytes > remaining()) {
    invalid_file("{}: truncated: {} needs {} bytes at offset {}, the file ends after {}", file_, what,
                 n_bytes, at_, remaining());
  }
}

template <typename T>
T GgufReader::read(std::string_view what) {
  need(sizeof(T), what);
  const T value = load<T>(bytes_.data() + at_);
  at_ += sizeof(T);
  return value;
}

std::string_view GgufReader::read_string(std::string_view what) {
  const auto length = read<uint64_t>(what);
  need(length, what);
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
  at_ += length;
  return text;
}

uint32_t GgufReader::read_preamble() {
  const auto magic = read<std::array<char, 4>>("the magic number");
  if (std::string_view(magic.data(), magic.size()) != "GGUF") {
    invalid_file("{}: not a GGUF file: it starts with {}", file_, in_quotes({magic.data(), magic.size()}));
  }
  const auto version = read<uint32_t>("the version");
  if (version != 0 && (version & 0xFFFF) == 0) {
    fail(ErrorCode::kUnsupported,
         "{}: a big-endian GGUF file; convert it to little-endian (gguf-convert-endian)", file_);
  }
  if (version != 2 && version != 3) {
    fail(ErrorCode::kUnsupported, "{}: GGUF version {} at offset 4; versions 2 and 3 can be read", file_,
         version);
  }
  n_tensors_ = read<uint64_t>("the number of tensors");
  n_keys_ = read<uint64_t>("the number of metadata keys");
  if (n_tensors_ > kMaxTensors) {
    invalid_file("{}: {} tensors at offset 8, more than {}", file_, n_tensors_, kMaxTensors);
  }
  if (n_keys_ > kMaxKeys) {
    invalid_file("{}: {} metadata keys at offset 16, more than {}", file_, n_keys_, kMaxKeys);
  }
  return version;
}

std::map<std::string, GgufValue, std::less<>> GgufReader::read_metadata() {
  std::map<std::string, GgufValue, std::less<>> metadata;
  for (uint64_t i = 0; i < n_keys_; ++i) {
    const uint64_t at = at_;
    const std::string_view key = read_string("a metadata key");
    if (key.empty() || key.size() > kMaxKeyBytes) {
      invalid_file("{}: metadata key {} of {} bytes at offset {}", file_, i, key.size(), at);
    }
    const auto type = read<uint32_t>("the type of a metadata value");
    GgufValue value = read_value(type, "metadata key " + in_quotes(key));
    if (!metadata.emplace(key, std::move(value)).second) {
      invalid_file("{}: metadata key {} at offset {} appears twice", file_, in_quotes(key), at);
    }
  }
  return metadata;
}

bool GgufReader::read_bool(const std::string& what) {
  const auto value = read<uint8_t>(what);
  if (value > 1) {
    invalid_file("{}: {}: {} at offset {} is not a boolean", file_, what, value, at_ - 1);
  }
  return value == 1;
}

GgufValue GgufReader::read_value(uint32_t type, const std::string& what) {
  switch (type) {
    case kUint8:
      return uint64_t{read<uint8_t>(what)};
    case kUint16:
      return uint64_t{read<uint16_t>(what)};
    case kUint32:
      return uint64_t{read<uint32_t>(what)};
    case kUint64:
      return read<uint64_t>(what);
    case kInt8:
      return int64_t{read<int8_t>(what)};
    case kInt16:
      return int64_t{read<int16_t>(what)};
    case kInt32:
      return int64_t{read<int32_t>(what)};
    case kInt64:
      return read<int64_t>(what);
    case kFloat32:
      return double{read<float>(what)};
    case kFloat64:
      return read<double>(what);
    case kBool:
      return read_bool(what);
    case kString:
      return read_string(what);
    case kArray:
      return read_array(what);
    default:
      invalid_file("{}: {}: unknown type {} at offset {}", file_, what, type, at_ - 4);
  }
}

template <typename Wide, typename Stored>
std::vector<Wide> GgufReader::read_numbers(uint64_t count) {
  need(count * sizeof(Stored), "an array");  // count is bounded by kMaxArrayElements
  std::vector<Wide> values(count);
  for (uint64_t i = 0; i < count; ++i, at_ += sizeof(Stored)) {
    values[i] = Wide{load<Stored>(bytes_.data() + at_)};
  }
  return values;
}

GgufValue GgufReader::read_array(const std::string& what) {
  const auto type = read<uint32_t>(what);
  const auto count = read<uint64_t>(what);
  // Every element takes at least one byte, strings eight: the count is checked before memory is taken.
  if (count > remaining() / (type == kString ? 8 : 1)) {
    invalid_file("{}: truncated: {} has {} elements at offset {}, the file ends after {} bytes", file_, what,
                 count, at_, remaining());
  }
  if (count > kMaxArrayElements - n_array_elements_) {
    invalid_file("{}: {} at offset {}: more than {} array elements in the file", file_, what, at_,
                 kMaxArrayElements);
  }
  n_array_elements_ += count;
  switch (type) {
    case kUint8:
      return read_numbers<uint64_t, uint8_t>(count);
    case kUint16:
      return read_numbers<uint64_t, uint16_t>(count);
    case kUint32:
      return read_numbers<uint64_t, uint32_t>(count);
    case kUint64:
      return read_numbers<uint64_t, uint64_t>(count);
    case kInt8:
      return read_numbers<int64_t, int8_t>(count);
    case kInt16:
      return read_numbers<int64_t, int16_t>(count);
    case kInt32:
      return read_numbers<int64_t, int32_t>(count);
    case kInt64:
      return read_numbers<int64_t, int64_t>(count);
    case kFloat32:
      return read_numbers<double, float>(count);
    case kFloat64:
      return read_numbers<double, double>(count);
    case kBool: {
      std::vector<bool> values(count);
      for (uint64_t i = 0; i < count; ++i) values[i] = read_bool(what);
      return values;
    }
    case kString: {
      std::vector<std::string_view> values(count);
      for (std::string_view& value : values) value = read_string(what);
      return values;
    }
    case kArray:
      fail(ErrorCode::kUnsupported, "{}: {}: an array of arrays at offset {}", file_, what, at_ - 12);
    default:
      invalid_file("{}: {}: array of unknown type {} at offset {}", file_, what, type, at_ - 12);
  }
}

struct GgufReader::TensorInfo {
  std::string_view name;
  std::vector<uint64_t> shape;  // outermost first
  DType dtype;
  uint64_t offset;  // in the data section
  uint64_t n_bytes;
  uint64_t at;  // of this entry, for messages
};

GgufReader::TensorInfo GgufReader::read_tensor_info() {
  TensorInfo info;
  info.at = at_;
  info.name = read_string("a tensor's name");
  if (info.name.empty() || info.name.size() > kMaxTensorNameBytes) {
    invalid_file("{}: tensor name of {} bytes at offset {}, must be 1 to {}", file_, info.name.size(),
                 info.at, kMaxTensorNameBytes);
  }
  const std::string name = in_quotes(info.name);
  const auto n_dims = read<uint32_t>(name);
  if (n_dims < 1 || n_dims > kMaxDims) {
    invalid_file("{}: tensor {} at offset {}: {} dimensions, must be 1 to {}", file_, name, info.at, n_dims,
                 kMaxDims);
  }
  info.shape.resize(n_dims);
  uint64_t n_elements = 1;
  for (size_t i = n_dims; i-- > 0;) {  // the file has the innermost first
    info.shape[i] = read<uint64_t>(name);
    const auto product = checked_mul(n_elements, info.shape[i]);
    if (!product || *product == 0 || *product > INT64_MAX) {
      invalid_file("{}: tensor {} at offset {}: dimensions are zero or their product overflows", file_, name,
                   info.at);
    }
    n_elements = *product;
  }
  const auto number = read<uint32_t>(name);
  const auto* const type = std::find_if(kTensorTypes.begin(), kTensorTypes.end(),
                                        [&](const TensorType& t) { return t.number == number; });
  if (type == kTensorTypes.end() || !type->dtype) {
    fail(ErrorCode::kUnsupported,
         "{}: tensor {} at offset {}: type {} can't be read (F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, "
         "Q4_K, "
         "Q5_K and Q6_K can)",
         file_, name, info.at,
         type == kTensorTypes.end() ? fmt::format("number {}", number) : std::string(type->name));
  }
  info.dtype = *type->dtype;
  if (info.shape.back() % dtype_info(info.dtype).block_size != 0) {
    invalid_file("{}: tensor {} at offset {}: rows of {} elements are not whole {} blocks of {}", file_, name,
                 info.at, info.shape.back(), type->name, dtype_info(info.dtype).block_size);
  }
  info.offset = read<uint64_t>(name);
  const auto n_bytes = dtype_bytes(info.dtype, n_elements);
  if (!n_bytes) invalid_file("{}: tensor {} at offset {}: its size overflows", file_, name, info.at);
  info.n_bytes = *n_bytes;
  return info;
}

void GgufReader::place(TensorView& tensor, const TensorInfo& info, uint64_t data_start) const {
  const uint64_t available = bytes_.size() - data_start;
  if (info.offset > available || info.n_bytes > available - info.offset) {
    invalid_file(
        "{}: tensor {} ({} bytes at offset {} of the tensor data, which starts at {}) lies beyond the end "
        "of the file; the download may be incomplete",
        file_, in_quotes(info.name), info.n_bytes, info.offset, data_start);
  }
  tensor.name = info.name;
  tensor.dtype = info.dtype;
  tensor.shape = info.shape;
  tensor.data = bytes_.subspan(data_start + info.offset, info.n_bytes);
}

std::vector<TensorView> GgufReader::read_tensors(
    const std::map<std::string, GgufValue, std::less<>>& metadata) {
  const uint64_t alignment = alignment_of(file_, metadata);
  std::vector<TensorInfo> infos;
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < n_tensors_; ++i) {
    infos.push_back(read_tensor_info());
    const TensorInfo& info = infos.back();
    if (!names.insert(info.name).second) {
      invalid_file("{}: tensor {} at offset {} appears twice", file_, in_quotes(info.name), info.at);
    }
    if (info.offset % alignment != 0) {
      invalid_file("{}: tensor {} at offset {}: its data offset {} is not a multiple of the alignment {}",
                   file_, in_quotes(info.name), info.at, info.offset, alignment);
    }
  }
  const uint64_t data_start = std::min<uint64_t>(align_up(at_, alignment), bytes_.size());
  std::vector<TensorView> tensors(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) place(tensors[i], infos[i], data_start);

  std::vector<const TensorInfo*> by_offset;
  by_offset.reserve(infos.size());
  for (const TensorInfo& info : infos) by_offset.push_back(&info);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const TensorInfo* a, const TensorInfo* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const TensorInfo& before = *by_offset[i - 1];
    if (before.offset + before.n_bytes > by_offset[i]->offset) {
      invalid_file("{}: tensors {} and {} overlap at offset {} of the tensor data", file_,
                   in_quotes(before.name), in_quotes(by_offset[i]->name), by_offset[i]->offset);
    }
  }
  return tensors;
}

}  // namespace qwick
