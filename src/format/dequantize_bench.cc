// Time per element of dequantize, for a row of 4096.
#include <benchmark/benchmark.h>

#include <vector>

#include "format/dequantize.h"

namespace qwick {
namespace {

void dequantize_row(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  std::vector<float> out(4096);
  std::vector<std::byte> row(*dtype_bytes(dtype, out.size()), std::byte{0x35});
  for (auto _ : state) {
    dequantize(dtype, row, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * out.size()));
  state.SetLabel(std::string(dtype_info(dtype).name));
}
BENCHMARK(dequantize_row)->DenseRange(0, static_cast<int>(DType::kQ6K));

}  // namespace
}  // namespace qwick
