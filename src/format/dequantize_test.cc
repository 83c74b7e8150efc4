// dequantize against the values that the Python package gguf gives for the same blocks
// (tests/golden/dequantize, made by tools/goldens/dequantize.py): equal to the bit.
#include "format/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/numeric.h"

namespace qwick {
namespace {

class Dequantize : public ::testing::TestWithParam<DType> {};

TEST_P(Dequantize, EqualsPythonToTheBit) {
  const DTypeInfo& info = dtype_info(GetParam());
  const MappedFile golden = MappedFile::open(std::string(QWICK_SOURCE_DIR) + "/tests/golden/dequantize/" +
                                             std::string(info.name) + ".bin");
  const auto n_blocks = load<uint32_t>(golden.bytes().data());
  const size_t n = size_t{n_blocks} * info.block_size;
  const size_t n_bytes = size_t{n_blocks} * info.block_bytes;
  ASSERT_EQ(golden.bytes().size(), 4 + n_bytes + 4 * n);
  ASSERT_GT(n_blocks, 0U);

  // At every alignment: rows of some types start at odd addresses.
  for (size_t shift = 0; shift < 4; ++shift) {
    std::vector<std::byte> blocks(n_bytes + shift);
    std::memcpy(blocks.data() + shift, golden.bytes().data() + 4, n_bytes);
    std::vector<float> out(n);
    dequantize(GetParam(), std::span(blocks).subspan(shift), out);
    for (size_t i = 0; i < n; ++i) {
      const auto expected = load<uint32_t>(golden.bytes().data() + 4 + n_bytes + 4 * i);
      if (std::isnan(std::bit_cast<float>(expected))) {
        ASSERT_TRUE(std::isnan(out[i])) << info.name << " element " << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), expected) << info.name << " element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Dequantize,
                         ::testing::Values(DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0,
                                           DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ4K, DType::kQ5K,
                                           DType::kQ6K),
                         [](const auto& test) { return std::string(dtype_info(test.param).name); });

TEST(DType, SizesAndOverflow) {
  EXPECT_EQ(dtype_bytes(DType::kF32, 3), 12U);
  EXPECT_EQ(dtype_bytes(DType::kQ4K, 512), 288U);
  EXPECT_FALSE(dtype_bytes(DType::kF32, uint64_t{1} << 62));
}

TEST(TensorView, Rows) {
  std::vector<std::byte> data(2 * 34);
  const TensorView matrix{"m", DType::kQ8_0, {2, 32}, data};
  EXPECT_EQ(matrix.n_elements(), 64U);
  EXPECT_EQ(matrix.row(1).data(), data.data() + 34);
  EXPECT_EQ(matrix.row(1).size(), 34U);
  const TensorView vector{"v", DType::kF32, {17}, data};
  EXPECT_EQ(vector.row(0).size(), 68U);
}

}  // namespace
}  // namespace qwick
