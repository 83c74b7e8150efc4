// Micro-benchmarks of the kernels, one thread, on the instruction set of this machine (or QWICK_ISA).
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "exec/cpu/aligned_bytes.h"
#include "exec/cpu/isa.h"
#include "exec/cpu/kv_blocks.h"
#include "exec/cpu/packed_matrix.h"
#include "exec/cpu/quant_rows.h"

namespace qwick {
namespace {

void fill(AlignedBytes& bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes.data()[i] = static_cast<uint8_t>(mix_bits(i) & 0x37);
}

// Arguments: format, matrix rows, tokens.
void bm_matmul(benchmark::State& state) {
  const auto format = static_cast<QuantFormat>(state.range(0));
  const auto n_rows = static_cast<uint32_t>(state.range(1));
  const auto n_tokens = static_cast<uint32_t>(state.range(2));
  constexpr uint32_t kCols = 1024;
  const Kernels& kernels = choose_kernels();
  const uint32_t n_tiles = n_rows / kTileRows;
  AlignedBytes bytes(n_tiles * tile_bytes(format, kCols));
  fill(bytes);
  const QuantMatrix matrix = {bytes.data(), n_rows, kCols, format};
  QuantRowsBuffer rows(n_tokens, kCols);
  const QuantRows x = rows.view(kCols);
  std::vector<float> values(kCols);
  for (uint32_t t = 0; t < n_tokens; ++t) {
    for (uint32_t i = 0; i < kCols; ++i) values[i] = static_cast<float>(mix_bits(t * kCols + i) % 255) - 127;
    kernels.quantize(values.data(), &x, t);
  }
  std::vector<float> y(size_t{n_tokens} * n_rows);
  for (auto _ : state) {
    kernels.matmul(&matrix, 0, n_tiles, &x, n_tokens, y.data(), n_rows, 0);
    benchmark::ClobberMemory();
  }
  state.SetLabel(std::string(quant_format_name(format)));
  const auto n = static_cast<double>(state.iterations());
  state.counters["GMAC/s"] =
      benchmark::Counter(1e-9 * n * n_tokens * n_rows * kCols, benchmark::Counter::kIsRate);
  state.counters["GB/s"] =
      benchmark::Counter(1e-9 * n * static_cast<double>(bytes.size()), benchmark::Counter::kIsRate);
}
BENCHMARK(bm_matmul)->ArgsProduct({{kQ4, kQ4Min, kQ5, kQ6, kQ8}, {1024}, {1, 2, 4, 16, 128}});
BENCHMARK(bm_matmul)->ArgsProduct({{kQ4, kQ8}, {262144}, {1}});  // from memory

// Arguments: tokens in the cache, rows, whether keys have 16 bits.
void bm_attend(benchmark::State& state) {
  const auto n_tokens = static_cast<uint32_t>(state.range(0));
  const auto n_rows = static_cast<uint32_t>(state.range(1));
  const bool has_wide_keys = state.range(2) != 0;
  constexpr uint32_t kHeadDim = 128;
  const auto block_bytes = static_cast<size_t>(KvBlocks::block_bytes(1, 1, kHeadDim, has_wide_keys));
  const Kernels& kernels = choose_kernels();
  const uint32_t n_blocks = n_tokens / kBlockTokens;
  AlignedBytes bytes(n_blocks * block_bytes);
  fill(bytes);
  std::vector<const uint8_t*> blocks;
  for (uint32_t b = 0; b < n_blocks; ++b) blocks.push_back(bytes.data() + b * block_bytes);
  const std::vector<uint8_t> queries(size_t{n_rows} * 2 * kHeadDim, 7);
  const std::vector<float> scales(n_rows, 1e-6F);
  const std::vector<int32_t> sums(n_rows);
  const std::vector<uint32_t> n_visible(n_rows, n_tokens);
  std::vector<float> values(size_t{n_rows} * kHeadDim);
  std::vector<float*> out;
  for (uint32_t r = 0; r < n_rows; ++r) out.push_back(values.data() + size_t{r} * kHeadDim);
  const AttentionWork work = {queries.data(), scales.data(),    sums.data(),   n_rows,    kHeadDim,
                              has_wide_keys,  n_visible.data(), blocks.data(), out.data()};
  for (auto _ : state) {
    kernels.attend(&work);
    benchmark::ClobberMemory();
  }
  const auto n = static_cast<double>(state.iterations());
  state.counters["GMAC/s"] =
      benchmark::Counter(1e-9 * n * n_rows * n_tokens * 2 * kHeadDim, benchmark::Counter::kIsRate);
  state.counters["GB/s"] =
      benchmark::Counter(1e-9 * n * static_cast<double>(bytes.size()), benchmark::Counter::kIsRate);
}
BENCHMARK(bm_attend)->ArgsProduct({{2048}, {1, 2, 7, 32}, {0, 1}});

}  // namespace
}  // namespace qwick
