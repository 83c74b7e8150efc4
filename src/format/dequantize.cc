// Block by block, in the order of operations of the Python package gguf, so that results are equal
// to the bit (this file needs -ffp-contract=off). Called for every weight row by the reference
// forward: the inner loops have constant lengths and no branches, and gcc vectorises them.
#include "format/dequantize.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/numeric.h"

namespace qwick {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

float load_f16(const uint8_t* p) {
  return f16_to_f32(load<uint16_t>(p));
}

// Q8_0: scale, 32 signed bytes.
void block_q8_0(const uint8_t* block, float* __restrict out) {
  const float d = load_f16(block);
  const auto* q = reinterpret_cast<const int8_t*>(block + 2);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(q[i]) * d;
}

// Of 32 elements packed in 16 bytes, the low nibbles are the first 16 and the high ones the last 16.

// Q4_0: scale, nibbles with an offset of 8.
void block_q4_0(const uint8_t* block, float* __restrict out) {
  const float d = load_f16(block);
  const uint8_t* q = block + 2;
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>((q[i] & 15) - 8);
  for (int i = 0; i < 16; ++i) out[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
}

// Q4_1: scale, minimum, nibbles.
void block_q4_1(const uint8_t* block, float* __restrict out) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const uint8_t* q = block + 4;
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>(q[i] & 15) + m;
  for (int i = 0; i < 16; ++i) out[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
}

// The fifth bits of 32 elements: bit i of the four bytes becomes 16 or 0 in high[i]. A byte's bits
// are spread over eight bytes by a multiplication; the addition carries each into its byte's top bit.
std::array<uint8_t, 32> spread_fifth_bits(const uint8_t* bits) {
  std::array<uint8_t, 32> high;
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t one_bit_each = (bits[i] * 0x0101010101010101ULL) & 0x8040201008040201ULL;
    const uint64_t sixteens = ((one_bit_each + 0x00406070787C7E7FULL) >> 3) & 0x1010101010101010ULL;
    std::memcpy(high.data() + 8 * i, &sixteens, 8);
  }
  return high;
}

// Q5_0: scale, fifth bits, nibbles; offset 16.
void block_q5_0(const uint8_t* block, float* __restrict out) {
  const float d = load_f16(block);
  const std::array<uint8_t, 32> high = spread_fifth_bits(block + 2);
  const uint8_t* q = block + 6;
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>(((q[i] & 15) | high[i]) - 16);
  for (int i = 0; i < 16; ++i) out[i + 16] = d * static_cast<float>(((q[i] >> 4) | high[i + 16]) - 16);
}

// Q5_1: scale, minimum, fifth bits, nibbles.
void block_q5_1(const uint8_t* block, float* __restrict out) {
  const float d = load_f16(block);
  const float m = load_f16(block + 2);
  const std::array<uint8_t, 32> high = spread_fifth_bits(block + 4);
  const uint8_t* q = block + 8;
  for (int i = 0; i < 16; ++i) out[i] = d * static_cast<float>((q[i] & 15) | high[i]) + m;
  for (int i = 0; i < 16; ++i) out[i + 16] = d * static_cast<float>((q[i] >> 4) | high[i + 16]) + m;
}

// Q4_K and Q5_K have eight sub-blocks of 32 with a 6-bit scale and a 6-bit minimum each, in 12 bytes:
// bytes 0-3 hold scales 0-3, bytes 4-7 minimums 0-3 in their low six bits; bytes 8-11 hold the low
// four bits of scales 4-7 (low nibble) and minimums 4-7 (high nibble), whose upper two bits are the
// top bits of bytes 0-3 and 4-7.
struct SubScales {
  std::array<float, 8> scale;
  std::array<float, 8> minimum;
};

SubScales unpack_sub_scales(const uint8_t* block) {
  const float d = load_f16(block);
  const float dmin = load_f16(block + 2);
  const uint8_t* packed = block + 4;
  SubScales sub;
  for (int i = 0; i < 4; ++i) {
    const uint8_t a = packed[i];
    const uint8_t b = packed[i + 4];
    const uint8_t c = packed[i + 8];
    sub.scale[i] = d * static_cast<float>(a & 63);
    sub.minimum[i] = dmin * static_cast<float>(b & 63);
    sub.scale[i + 4] = d * static_cast<float>((c & 15) | ((a >> 2) & 48));
    sub.minimum[i + 4] = dmin * static_cast<float>((c >> 4) | ((b >> 2) & 48));
  }
  return sub;
}

// Q4_K: scale, minimum, 12 bytes of sub-scales, 128 bytes; each 32 bytes hold two sub-blocks, the
// first in the low nibbles.
void block_q4_k(const uint8_t* block, float* __restrict out) {
  const SubScales sub = unpack_sub_scales(block);
  const uint8_t* q = block + 16;
  for (size_t pair = 0; pair < 4; ++pair, q += 32, out += 64) {
    const float d0 = sub.scale[2 * pair];
    const float m0 = sub.minimum[2 * pair];
    const float d1 = sub.scale[2 * pair + 1];
    const float m1 = sub.minimum[2 * pair + 1];
    for (int i = 0; i < 32; ++i) out[i] = d0 * static_cast<float>(q[i] & 15) - m0;
    for (int i = 0; i < 32; ++i) out[i + 32] = d1 * static_cast<float>(q[i] >> 4) - m1;
  }
}

// Q5_K: as Q4_K, with 32 bytes of fifth bits before the nibbles; bit s of byte i belongs to element i
// of sub-block s.
void block_q5_k(const uint8_t* block, float* __restrict out) {
  const SubScales sub = unpack_sub_scales(block);
  const uint8_t* high = block + 16;
  const uint8_t* q = block + 48;
  for (size_t pair = 0; pair < 4; ++pair, q += 32, out += 64) {
    const float d0 = sub.scale[2 * pair];
    const float m0 = sub.minimum[2 * pair];
    const float d1 = sub.scale[2 * pair + 1];
    const float m1 = sub.minimum[2 * pair + 1];
    for (int i = 0; i < 32; ++i) {
      const int fifth = (high[i] >> (2 * pair)) & 1;
      out[i] = d0 * static_cast<float>((q[i] & 15) | (fifth << 4)) - m0;
    }
    for (int i = 0; i < 32; ++i) {
      const int fifth = (high[i] >> (2 * pair + 1)) & 1;
      out[i + 32] = d1 * static_cast<float>((q[i] >> 4) | (fifth << 4)) - m1;
    }
  }
}

// Q6_K: 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed sub-scales (for 16 elements
// each), scale. Each half of 128 elements takes 64 and 32 bytes of these: four runs of 32, the first
// two in the low nibbles, the last two in the high ones; run r has its upper bits at bit 2r.
void block_q6_k(const uint8_t* block, float* __restrict out) {
  const uint8_t* low = block;
  const uint8_t* high = block + 128;
  const auto* scales = reinterpret_cast<const int8_t*>(block + 192);
  const float d = load_f16(block + 208);
  for (int half = 0; half < 2; ++half, low += 64, high += 32) {
    for (size_t run = 0; run < 4; ++run, scales += 2, out += 32) {
      const uint8_t* nibbles = low + 32 * (run & 1);
      const size_t nibble_shift = 4 * (run >> 1);
      const float d0 = d * static_cast<float>(scales[0]);
      const float d1 = d * static_cast<float>(scales[1]);
      for (int i = 0; i < 32; ++i) {
        const int q = ((nibbles[i] >> nibble_shift) & 15) | (((high[i] >> (2 * run)) & 3) << 4);
        out[i] = (i < 16 ? d0 : d1) * static_cast<float>(q - 32);
      }
    }
  }
}

template <auto kBlock>
void each_block(const DTypeInfo& info, const uint8_t* src, std::span<float> out) {
  for (size_t i = 0; i < out.size(); i += info.block_size, src += info.block_bytes) {
    kBlock(src, out.data() + i);
  }
}

void dequantize_f16(const uint8_t* src, std::span<float> out) {
  float* __restrict to = out.data();
  for (size_t i = 0; i < out.size(); ++i) to[i] = load_f16(src + 2 * i);
}

void dequantize_bf16(const uint8_t* src, std::span<float> out) {
  float* __restrict to = out.data();
  for (size_t i = 0; i < out.size(); ++i) to[i] = bf16_to_f32(load<uint16_t>(src + 2 * i));
}

}  // namespace

void dequantize(DType dtype, std::span<const std::byte> src, std::span<float> out) noexcept {
  const DTypeInfo& info = dtype_info(dtype);
  QWICK_CHECK(dtype_bytes(dtype, out.size()) == src.size());
  if (out.empty()) return;
  const auto* bytes = reinterpret_cast<const uint8_t*>(src.data());
  switch (dtype) {
    case DType::kF32:
      std::memcpy(out.data(), bytes, src.size());
      break;
    case DType::kF16:
      dequantize_f16(bytes, out);
      break;
    case DType::kBF16:
      dequantize_bf16(bytes, out);
      break;
    case DType::kQ8_0:
      each_block<block_q8_0>(info, bytes, out);
      break;
    case DType::kQ4_0:
      each_block<block_q4_0>(info, bytes, out);
      break;
    case DType::kQ4_1:
      each_block<block_q4_1>(info, bytes, out);
      break;
    case DType::kQ5_0:
      each_block<block_q5_0>(info, bytes, out);
      break;
    case DType::kQ5_1:
      each_block<block_q5_1>(info, bytes, out);
      break;
    case DType::kQ4K:
      each_block<block_q4_k>(info, bytes, out);
      break;
    case DType::kQ5K:
      each_block<block_q5_k>(info, bytes, out);
      break;
    case DType::kQ6K:
      each_block<block_q6_k>(info, bytes, out);
      break;
  }
}

}  // namespace qwick
