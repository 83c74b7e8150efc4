#include "exec/cpu/packed_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/numeric.h"
#include "format/dequantize.h"

namespace qwick {
namespace {

struct FormatInfo {
  std::string_view name;
  uint32_t bits;
  bool has_minimum;
};
constexpr FormatInfo kFormats[kNumQuantFormats] = {{"q4", 4, false}, {"q4_min", 4, true},
                                                   {"q5", 5, false}, {"q5_min", 5, true},
                                                   {"q6", 6, false}, {"q8", 8, false}};

uint32_t quant_bytes(QuantFormat format) {
  return kFormats[format].bits * kTileRows * kGroup / 8;
}

// Where a group's quants lie in its tile, and how to set and get one; the layout of kernels.h.
class GroupView {
 public:
  GroupView(QuantFormat format, const uint8_t* group) : bits_(kFormats[format].bits), group_(group) {}

  uint8_t get(uint32_t row, uint32_t col) const {
    const uint32_t q = col / 4;
    const uint32_t at = 4 * row + col % 4;
    if (bits_ == 8) return group_[64 * q + at];
    const uint8_t both = group_[64 * (q / 2) + at];
    auto value = static_cast<uint8_t>(q % 2 == 0 ? both & 0x0F : both >> 4);
    if (bits_ == 5) value |= static_cast<uint8_t>(((group_[256 + at] >> q) & 1) << 4);
    if (bits_ == 6)
      value |= static_cast<uint8_t>(((group_[256 + 64 * (q / 4) + at] >> (2 * (q % 4))) & 3) << 4);
    return value;
  }

 private:
  uint32_t bits_;
  const uint8_t* group_;
};

// Into a group that is all zero.
void set_quant(uint32_t bits, uint8_t* group, uint32_t row, uint32_t col, uint8_t value) {
  const uint32_t q = col / 4;
  const uint32_t at = 4 * row + col % 4;
  if (bits == 8) {
    group[64 * q + at] = value;
    return;
  }
  group[64 * (q / 2) + at] |= static_cast<uint8_t>(q % 2 == 0 ? value & 0x0F : (value & 0x0F) << 4);
  if (bits == 5) group[256 + at] |= static_cast<uint8_t>((value >> 4) << q);
  if (bits == 6) group[256 + 64 * (q / 4) + at] |= static_cast<uint8_t>((value >> 4) << (2 * (q % 4)));
}

uint8_t clamp_quant(float value, int highest) {
  return static_cast<uint8_t>(std::clamp(static_cast<int>(std::nearbyint(value)), 0, highest));
}

// GGUF blocks of 32 that are ours but for the order of the numbers. False: another type.
bool import_group(DType dtype, const std::byte* block, GroupCode& code) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  const auto nibbles = [&](const uint8_t* p, uint32_t high_bits) {
    for (uint32_t i = 0; i < 16; ++i) {
      code.quants[i] = static_cast<uint8_t>((p[i] & 0x0F) | (((high_bits >> i) & 1) << 4));
      code.quants[i + 16] = static_cast<uint8_t>((p[i] >> 4) | (((high_bits >> (i + 16)) & 1) << 4));
    }
  };
  code.scale = load<uint16_t>(bytes);
  switch (dtype) {
    case DType::kQ8_0:
      for (uint32_t i = 0; i < kGroup; ++i) code.quants[i] = bytes[2 + i] ^ 0x80;
      return true;
    case DType::kQ4_0:
      nibbles(bytes + 2, 0);
      return true;
    case DType::kQ4_1:
      code.minimum = load<uint16_t>(bytes + 2);
      nibbles(bytes + 4, 0);
      return true;
    case DType::kQ5_0:
      nibbles(bytes + 6, load<uint32_t>(bytes + 2));
      return true;
    case DType::kQ5_1:
      code.minimum = load<uint16_t>(bytes + 2);
      nibbles(bytes + 8, load<uint32_t>(bytes + 4));
      return true;
    default:
      return false;
  }
}

// Scale and minimum of sub-block `sub` of a Q4_K or Q5_K block, as f32 (six bits each, packed in 12 bytes).
std::pair<float, float> k_scale(const uint8_t* block, uint32_t sub) {
  const float d = f16_to_f32(load<uint16_t>(block));
  const float d_min = f16_to_f32(load<uint16_t>(block + 2));
  const uint8_t* packed = block + 4;
  uint32_t scale = 0;
  uint32_t minimum = 0;
  if (sub < 4) {
    scale = packed[sub] & 63;
    minimum = packed[sub + 4] & 63;
  } else {
    scale = (packed[sub + 4] & 0x0F) | ((packed[sub - 4] >> 6) << 4);
    minimum = (packed[sub + 4] >> 4) | ((packed[sub] >> 6) << 4);
  }
  return {d * static_cast<float>(scale), d_min * static_cast<float>(minimum)};
}

// A group of 32 out of a Q4_K or Q5_K block of 256: the same quants, scales rounded to f16.
void import_k_group(DType dtype, const std::byte* block, uint32_t sub, GroupCode& code) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  const auto [scale, minimum] = k_scale(bytes, sub);
  code.scale = f32_to_f16(scale);
  code.minimum = f32_to_f16(-minimum);
  const bool is_q5 = dtype == DType::kQ5K;
  const uint8_t* low = bytes + (is_q5 ? 48 : 16) + size_t{32} * (sub / 2);
  for (uint32_t i = 0; i < kGroup; ++i) {
    const auto nibble = static_cast<uint8_t>(sub % 2 == 0 ? low[i] & 0x0F : low[i] >> 4);
    const uint32_t high = is_q5 ? (bytes[16 + i] >> sub) & 1U : 0U;
    code.quants[i] = static_cast<uint8_t>(nibble | (high << 4));
  }
}

// One row of a tensor, group by group, in a run-time format.
class RowEncoder {
 public:
  RowEncoder(const TensorView& tensor, QuantFormat format)
      : tensor_(tensor), format_(format), values_(tensor.shape[1]) {
    const bool is_k = tensor.dtype == DType::kQ4K || tensor.dtype == DType::kQ5K;
    is_exact_ = run_time_format(tensor.dtype, kQ8) == format && tensor.dtype != DType::kQ6K &&
                dtype_info(tensor.dtype).block_size > 1;
    is_k_ = is_exact_ && is_k;
  }

  void start(uint32_t row) {
    row_ = tensor_.row(row);
    if (!is_exact_) dequantize(tensor_.dtype, row_, values_);
  }
  void encode(uint32_t group, GroupCode& code) const {
    const uint32_t block_bytes = dtype_info(tensor_.dtype).block_bytes;
    if (is_k_) {
      import_k_group(tensor_.dtype, row_.data() + static_cast<size_t>(group / 8) * block_bytes, group % 8,
                     code);
    } else if (is_exact_) {
      QWICK_CHECK(import_group(tensor_.dtype, row_.data() + static_cast<size_t>(group) * block_bytes, code));
    } else {
      quantize_group(format_,
                     std::span<const float, kGroup>(&values_[static_cast<size_t>(group) * kGroup], kGroup),
                     code);
    }
  }

 private:
  const TensorView& tensor_;
  QuantFormat format_;
  std::vector<float> values_;
  std::span<const std::byte> row_;
  bool is_exact_ = false;
  bool is_k_ = false;
};

}  // namespace

std::string_view quant_format_name(QuantFormat format) {
  return kFormats[format].name;
}
uint32_t quant_bits(QuantFormat format) {
  return kFormats[format].bits;
}
bool has_minimum(QuantFormat format) {
  return kFormats[format].has_minimum;
}

QuantFormat run_time_format(DType dtype, QuantFormat wanted) {
  switch (dtype) {
    case DType::kQ4_0:
      return kQ4;
    case DType::kQ4_1:
    case DType::kQ4K:
      return kQ4Min;
    case DType::kQ5_0:
      return kQ5;
    case DType::kQ5_1:
    case DType::kQ5K:
      return kQ5Min;
    case DType::kQ6K:
    case DType::kQ8_0:
      return kQ8;
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return wanted;
  }
  return wanted;
}

uint32_t stored_row(uint32_t row, RowOrder order, uint32_t head_dim) {
  if (order == RowOrder::kAsStored) return row;
  const uint32_t head = row / head_dim;
  const uint32_t at = row % head_dim;
  const uint32_t half = head_dim / 2;
  return head * head_dim + (at < half ? 2 * at : 2 * (at - half) + 1);
}

uint64_t tile_bytes(QuantFormat format, uint32_t n_cols) {
  const uint64_t scales = uint64_t{2} * kTileRows * (has_minimum(format) ? 2 : 1);
  return (n_cols / kGroup * (quant_bytes(format) + scales) + 63) / 64 * 64;
}

namespace {

// Least squared error over the scale, given the quants: sum(w x q) / sum(w q q).
struct Fit {
  float scale;
  float error;
};

// q = round(x / scale) + zero, error weighted by x^2 (plus a floor, so that small numbers count a little).
Fit fit_scale(std::span<const float, kGroup> x, std::span<const float, kGroup> weights, float scale, int zero,
              int highest) {
  float xq = 0;
  float qq = 0;
  const float inverse = scale != 0 ? 1.0F / scale : 0.0F;
  std::array<float, kGroup> quants;
  for (uint32_t i = 0; i < kGroup; ++i) {
    quants[i] = static_cast<float>(clamp_quant(x[i] * inverse + static_cast<float>(zero), highest) - zero);
    xq += weights[i] * x[i] * quants[i];
    qq += weights[i] * quants[i] * quants[i];
  }
  const float best = f16_to_f32(f32_to_f16(qq > 0 ? xq / qq : 0.0F));
  float error = 0;
  for (uint32_t i = 0; i < kGroup; ++i) {
    const float difference = x[i] - best * quants[i];
    error += weights[i] * difference * difference;
  }
  return {best, error};
}

}  // namespace

void quantize_group(QuantFormat format, std::span<const float, kGroup> x, GroupCode& code) {
  const int zero = 1 << (kFormats[format].bits - 1);
  const int highest = 2 * zero - 1;
  float extreme = 0;  // the number of largest magnitude, with its sign
  float mean_square = 0;
  for (const float value : x) {
    if (std::abs(value) > std::abs(extreme)) extreme = value;
    mean_square += value * value / kGroup;
  }
  code.minimum = 0;
  if (has_minimum(format)) {
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const float minimum = f16_to_f32(f32_to_f16(*low));
    const float scale = f16_to_f32(f32_to_f16((*high - minimum) / static_cast<float>(highest)));
    code.scale = f32_to_f16(scale);
    code.minimum = f32_to_f16(minimum);
    for (uint32_t i = 0; i < kGroup; ++i) {
      code.quants[i] = clamp_quant(scale > 0 ? (x[i] - minimum) / scale : 0.0F, highest);
    }
    return;
  }
  float best_scale = 0;
  if (format == kQ8) {
    best_scale = f16_to_f32(f32_to_f16(std::abs(extreme) / 127.0F));
  } else {
    std::array<float, kGroup> weights;
    for (uint32_t i = 0; i < kGroup; ++i) weights[i] = mean_square + x[i] * x[i];
    // The extreme number onto the last quant of its side (which reaches one further below zero), and
    // around that.
    float best_error = std::numeric_limits<float>::infinity();
    for (int step = -9; step <= 9; ++step) {
      const float scale = extreme / (static_cast<float>(-zero) + 0.1F * static_cast<float>(step));
      const Fit fit = fit_scale(x, weights, scale, zero, highest);
      if (fit.error < best_error) {
        best_error = fit.error;
        best_scale = fit.scale;
      }
    }
  }
  code.scale = f32_to_f16(best_scale);
  const float inverse = best_scale != 0 ? 1.0F / best_scale : 0.0F;
  for (uint32_t i = 0; i < kGroup; ++i) {
    code.quants[i] = clamp_quant(x[i] * inverse + static_cast<float>(zero), highest);
  }
}

void dequantize_group(QuantFormat format, const GroupCode& code, std::span<float, kGroup> x) {
  const int zero = has_minimum(format) ? 0 : 1 << (quant_bits(format) - 1);
  const float minimum = has_minimum(format) ? f16_to_f32(code.minimum) : 0.0F;
  for (uint32_t i = 0; i < kGroup; ++i) {
    x[i] = f16_to_f32(code.scale) * static_cast<float>(code.quants[i] - zero) + minimum;
  }
}

void pack_matrix(const TensorView& tensor, QuantFormat format, RowOrder order, uint32_t head_dim,
                 ThreadPool& pool, uint8_t* out) {
  const auto n_rows = static_cast<uint32_t>(tensor.shape[0]);
  const auto n_cols = static_cast<uint32_t>(tensor.shape[1]);
  const uint32_t n_groups = n_cols / kGroup;
  const uint64_t n_tile_bytes = tile_bytes(format, n_cols);
  const uint32_t n_tiles = (n_rows + kTileRows - 1) / kTileRows;
  pool.parallel_for(n_tiles, [&](int, size_t begin, size_t end) {
    RowEncoder encoder(tensor, format);
    GroupCode code{};
    for (size_t tile = begin; tile < end; ++tile) {
      uint8_t* at = out + tile * n_tile_bytes;
      std::memset(at, 0, n_tile_bytes);
      uint8_t* scales = at + static_cast<size_t>(n_groups) * quant_bytes(format);
      uint8_t* minimums = scales + size_t{2} * kTileRows * n_groups;
      for (uint32_t r = 0; r < kTileRows && tile * kTileRows + r < n_rows; ++r) {
        encoder.start(stored_row(static_cast<uint32_t>(tile) * kTileRows + r, order, head_dim));
        for (uint32_t group = 0; group < n_groups; ++group) {
          encoder.encode(group, code);
          for (uint32_t col = 0; col < kGroup; ++col) {
            set_quant(kFormats[format].bits, at + static_cast<size_t>(group) * quant_bytes(format), r, col,
                      code.quants[col]);
          }
          const size_t scale_at = size_t{2} * (group * kTileRows + r);
          std::memcpy(scales + scale_at, &code.scale, sizeof code.scale);
          if (has_minimum(format)) std::memcpy(minimums + scale_at, &code.minimum, sizeof code.minimum);
        }
      }
    }
  });
}

void unpack_row(const QuantMatrix& matrix, uint32_t row, std::span<float> out) noexcept {
  const uint32_t n_groups = matrix.n_cols / kGroup;
  const uint8_t* tile = matrix.data + row / kTileRows * tile_bytes(matrix.format, matrix.n_cols);
  const uint8_t* scales = tile + static_cast<size_t>(n_groups) * quant_bytes(matrix.format);
  const uint8_t* minimums = scales + size_t{2} * kTileRows * n_groups;
  const uint32_t r = row % kTileRows;
  GroupCode code{};
  for (uint32_t group = 0; group < n_groups; ++group) {
    const GroupView view(matrix.format, tile + static_cast<size_t>(group) * quant_bytes(matrix.format));
    for (uint32_t col = 0; col < kGroup; ++col) code.quants[col] = view.get(r, col);
    const size_t scale_at = size_t{2} * (group * kTileRows + r);
    code.scale = load<uint16_t>(scales + scale_at);
    if (has_minimum(matrix.format)) code.minimum = load<uint16_t>(minimums + scale_at);
    dequantize_group(matrix.format, code,
                     std::span<float, kGroup>(&out[static_cast<size_t>(group) * kGroup], kGroup));
  }
}

}  // namespace qwick
