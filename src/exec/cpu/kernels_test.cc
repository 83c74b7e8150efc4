// Every instruction set's kernels against plain arithmetic in f64, and against each other.
#include "exec/cpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "base/numeric.h"
#include "exec/cpu/aligned_bytes.h"
#include "exec/cpu/isa.h"
#include "exec/cpu/kv_blocks.h"
#include "exec/cpu/packed_matrix.h"
#include "exec/cpu/quant_rows.h"

namespace qwick {
namespace {

std::vector<float> random_floats(size_t n, uint32_t seed, float deviation = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, deviation);
  std::vector<float> values(n);
  for (float& value : values) value = normal(generator);
  return values;
}

// Rows of f32 as the kernels take them, and what they stand for.
struct Rows {
  QuantRowsBuffer buffer;
  QuantRows view;

  Rows(const Kernels& kernels, const std::vector<float>& x, size_t n_cols)
      : buffer(x.size() / n_cols, n_cols), view(buffer.view(n_cols)) {
    for (uint32_t row = 0; row < x.size() / n_cols; ++row) kernels.quantize(&x[row * n_cols], &view, row);
  }
  // The extra of a group, or nothing.
  std::optional<size_t> extra(size_t row, size_t group) const {
    const size_t first = row * (view.n_cols / kGroup / kExtraShare);
    for (size_t i = 0; i < view.n_extra[row]; ++i) {
      if (view.extra_groups[first + i] == group) return first + i;
    }
    return std::nullopt;
  }
  double value(size_t row, size_t col) const {
    const size_t at = row * view.n_cols + col;
    double value = static_cast<double>(view.scales[at / kGroup]) * view.quants[at];
    if (const auto i = extra(row, col / kGroup))
      value += static_cast<double>(view.extra_scales[*i]) * view.extra_quants[*i * kGroup + col % kGroup];
    return value;
  }
  double step(size_t row, size_t col) const {  // between neighbouring values
    const auto i = extra(row, col / kGroup);
    return i ? view.extra_scales[*i] : view.scales[(row * view.n_cols + col) / kGroup];
  }
};

class KernelsTest : public ::testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernels() const { return *GetParam(); }
};

TEST_P(KernelsTest, QuantizesToTheNearest) {
  constexpr size_t kCols = 256;
  std::vector<float> x = random_floats(2 * kCols, 1);
  x[kCols + 70] = 40;  // row 1, group 2: much larger than the rest
  const Rows rows(kernels(), x, kCols);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(std::abs(rows.value(i / kCols, i % kCols) - x[i]), 0.501 * rows.step(i / kCols, i % kCols));
  }
  for (size_t group = 0; group < x.size() / kGroup; ++group) {
    int32_t sum = 0;
    for (size_t i = 0; i < kGroup; ++i) sum += rows.view.quants[group * kGroup + i];
    EXPECT_EQ(rows.view.sums[group], sum);
  }
  EXPECT_EQ(rows.view.n_extra[0], 0);
  ASSERT_EQ(rows.view.n_extra[1], 1);
  EXPECT_TRUE(rows.extra(1, 2));
  const Rows zero(kernels(), std::vector<float>(kGroup), kGroup);
  EXPECT_EQ(zero.value(0, 3), 0);
}

TEST_P(KernelsTest, ProductsOfAllFormats) {
  constexpr uint32_t kRows = 48;
  constexpr uint32_t kCols = 256;
  constexpr uint32_t kTokens = 19;
  const std::vector<float> weights = random_floats(size_t{kRows} * kCols, 2, 0.1F);
  const TensorView tensor{"w", DType::kF32, {kRows, kCols}, std::as_bytes(std::span(weights))};
  std::vector<float> inputs = random_floats(size_t{kTokens} * kCols, 3);
  for (uint32_t t = 0; t < kTokens; t += 3) inputs[size_t{t} * kCols + 9 * t] = 30;  // has an extra
  const Rows x(kernels(), inputs, kCols);
  ThreadPool pool(1);
  for (int f = 0; f < kNumQuantFormats; ++f) {
    const auto format = static_cast<QuantFormat>(f);
    AlignedBytes bytes(kRows / kTileRows * tile_bytes(format, kCols));
    pack_matrix(tensor, format, RowOrder::kAsStored, 0, pool, bytes.data());
    const QuantMatrix matrix{bytes.data(), kRows, kCols, format};
    std::vector<float> y(size_t{kTokens} * kRows, 1.0F);
    kernels().matmul(&matrix, 0, kRows / kTileRows, &x.view, kTokens, y.data(), kRows, 1);
    for (uint32_t row = 0; row < kRows; ++row) {
      std::vector<float> w(kCols);
      unpack_row(matrix, row, w);
      for (uint32_t t = 0; t < kTokens; ++t) {
        double expected = 1.0;
        for (uint32_t col = 0; col < kCols; ++col) expected += static_cast<double>(w[col]) * x.value(t, col);
        ASSERT_NEAR(y[size_t{t} * kRows + row], expected, 2e-4)
            << quant_format_name(format) << " row " << row << " token " << t;
      }
    }
    // The same bits for a token alone.
    std::vector<float> alone(kRows);
    for (uint32_t t = 0; t < kTokens; ++t) {
      const auto first = inputs.begin() + t * kCols;
      const Rows one(kernels(), std::vector<float>(first, first + kCols), kCols);
      kernels().matmul(&matrix, 0, kRows / kTileRows, &one.view, 1, alone.data(), kRows, 0);
      for (uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(alone[row] + 1.0F, y[size_t{t} * kRows + row]);
    }
  }
}

TEST_P(KernelsTest, ExtremesDoNotSaturate) {
  // The largest products that can be, in every position.
  constexpr uint32_t kCols = 64;
  const std::vector<float> largest(size_t{kTileRows} * kCols, 1.0F);
  const Rows x(kernels(), std::vector<float>(kCols, -1.0F), kCols);
  ThreadPool pool(1);
  for (int f = 0; f < kNumQuantFormats; ++f) {
    for (const float sign : {1.0F, -1.0F}) {
      std::vector<float> weights = largest;
      for (float& value : weights) value *= sign;
      const auto format = static_cast<QuantFormat>(f);
      const TensorView tensor{"w", DType::kF32, {kTileRows, kCols}, std::as_bytes(std::span(weights))};
      AlignedBytes bytes(tile_bytes(format, kCols));
      pack_matrix(tensor, format, RowOrder::kAsStored, 0, pool, bytes.data());
      const QuantMatrix matrix{bytes.data(), kTileRows, kCols, format};
      std::vector<float> y(kTileRows);
      kernels().matmul(&matrix, 0, 1, &x.view, 1, y.data(), kTileRows, 0);
      for (const float value : y) EXPECT_NEAR(value, -sign * kCols, 0.1) << quant_format_name(format);
    }
  }
}

// The scale is the same bits on every instruction set, and no worse than that of the largest number.
TEST_P(KernelsTest, FitScale) {
  const Kernels& scalar = *available_kernels().back();
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> x = random_floats(kGroup, seed, 0.02F);
    for (const int zero : {8, 16, 32}) {
      const float scale = kernels().fit_scale(x.data(), zero);
      EXPECT_EQ(scale, scalar.fit_scale(x.data(), zero));
      float largest = 0;
      float mean_square = 0;
      for (const float value : x) {
        largest = std::max(largest, std::abs(value));
        mean_square += value * value / kGroup;
      }
      const auto error = [&](float step) {
        double sum = 0;
        for (const float value : x) {
          const auto limit = static_cast<float>(zero);
          const double quant = std::clamp(std::nearbyint(value / step), -limit, limit - 1);
          sum += (mean_square + value * value) * std::pow(value - step * quant, 2);
        }
        return sum;
      };
      EXPECT_LE(error(scale), error(largest / static_cast<float>(zero - 1)) * 1.0001);
    }
  }
  const std::vector<float> zeros(kGroup);
  EXPECT_EQ(kernels().fit_scale(zeros.data(), 8), 0.0F);
}

TEST_P(KernelsTest, NormSiluRotate) {
  const std::vector<float> x = random_floats(96, 4, 3.0F);
  const std::vector<float> w = random_floats(96, 5);
  std::vector<float> y(96);
  kernels().rms_norm(x.data(), w.data(), 96, 1e-6F, y.data());
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i] / std::sqrt(squares / 96 + 1e-6) * w[i], 1e-5);

  std::vector<float> gate = x;
  gate[0] = -200;
  gate[1] = 200;
  const std::vector<float> before = gate;
  kernels().silu_multiply(gate.data(), w.data(), 96);
  for (size_t i = 0; i < x.size(); ++i) {
    const double silu = before[i] / (1 + std::exp(-static_cast<double>(before[i])));
    EXPECT_NEAR(gate[i], silu * w[i], 1e-6 * (1 + std::abs(silu * w[i])));
  }

  std::vector<float> head = random_floats(64, 6);
  const std::vector<float> old = head;
  std::vector<float> cos(32);
  std::vector<float> sin(32);
  for (size_t i = 0; i < 32; ++i) {
    cos[i] = std::cos(static_cast<float>(i));
    sin[i] = std::sin(static_cast<float>(i));
  }
  kernels().rotate(head.data(), cos.data(), sin.data(), 64);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_NEAR(head[i], old[i] * cos[i] - old[i + 32] * sin[i], 1e-5);
    EXPECT_NEAR(head[i + 32], old[i + 32] * cos[i] + old[i] * sin[i], 1e-5);
  }
}

// Attention through the paged cache against f64 over the original keys and values: the difference is
// what 8 bits lose.
void check_attention(const Kernels& kernels, bool has_wide_keys, double tolerance) {
  constexpr uint32_t kHeadDim = 64;
  constexpr uint32_t kTokens = 100;
  KvBlocks cache(1, 1, kHeadDim, has_wide_keys, 8);
  const int32_t table[] = {5, 0, 7, 2};
  const std::vector<float> keys = random_floats(size_t{kTokens} * kHeadDim, 7);
  const std::vector<float> values = random_floats(size_t{kTokens} * kHeadDim, 8);
  for (uint32_t t = 0; t < kTokens; ++t) {
    cache.write(0, 0, table[t / kBlockTokens], t % kBlockTokens, {&keys[size_t{t} * kHeadDim], kHeadDim},
                {&values[size_t{t} * kHeadDim], kHeadDim});
  }
  const uint32_t n_visible[] = {1, 31, 32, 33, 64, 77, 100};
  constexpr uint32_t kRows = std::size(n_visible);
  const std::vector<float> queries = random_floats(size_t{kRows} * kHeadDim, 9, 1.5F);
  const float scale = 1.0F / std::sqrt(static_cast<float>(kHeadDim));
  const std::vector<float> ones(kHeadDim, 1.0F);
  std::vector<uint8_t> wide(2 * queries.size());
  std::vector<float> scales(kRows);
  std::vector<int32_t> sums(kRows);
  for (uint32_t row = 0; row < kRows; ++row) {
    kernels.quantize_wide(&queries[size_t{row} * kHeadDim], ones.data(), kHeadDim, scale,
                          &wide[size_t{2} * row * kHeadDim], &scales[row], &sums[row]);
  }
  const uint8_t* blocks[4];
  for (int b = 0; b < 4; ++b) blocks[b] = cache.head_block(0, 0, table[b]);
  std::vector<float> result(size_t{kRows} * kHeadDim);
  float* out[kRows];
  for (uint32_t row = 0; row < kRows; ++row) out[row] = &result[size_t{row} * kHeadDim];
  const AttentionWork work = {wide.data(),   scales.data(), sums.data(), kRows, kHeadDim,
                              has_wide_keys, n_visible,     blocks,      out};
  kernels.attend(&work);
  for (uint32_t row = 0; row < kRows; ++row) {
    std::vector<double> weights(n_visible[row]);
    double sum = 0;
    for (uint32_t t = 0; t < n_visible[row]; ++t) {
      double score = 0;
      for (uint32_t d = 0; d < kHeadDim; ++d)
        score += static_cast<double>(queries[size_t{row} * kHeadDim + d]) * keys[size_t{t} * kHeadDim + d];
      weights[t] = std::exp(score * scale);
      sum += weights[t];
    }
    for (uint32_t d = 0; d < kHeadDim; ++d) {
      double expected = 0;
      for (uint32_t t = 0; t < n_visible[row]; ++t)
        expected += weights[t] / sum * values[size_t{t} * kHeadDim + d];
      EXPECT_NEAR(out[row][d], expected, tolerance) << "row " << row;
    }
  }
}

TEST_P(KernelsTest, AttentionWithKeysOf8Bits) {
  check_attention(kernels(), false, 0.02);
}
TEST_P(KernelsTest, AttentionWithKeysOf16Bits) {
  check_attention(kernels(), true, 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest,
                         ::testing::ValuesIn(available_kernels().begin(), available_kernels().end()),
                         [](const auto& test) {
                           std::string name = test.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace qwick
