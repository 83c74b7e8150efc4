// The quantised executor on the demo model: near the reference, and the same bits however a prompt is
// cut, whatever is beside it, with any number of threads. Keys have 8 bits, with q6 weights 16.
#include "exec/cpu/cpu_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exec/cpu/isa.h"
#include "exec/reference_executor.h"

namespace qwick {
namespace {

constexpr uint32_t kBlocks = 64;

std::vector<int32_t> random_ids(size_t n, int32_t seed) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>((i * i * 31 + i * 17 + static_cast<size_t>(seed) * 101) % 2000);
  return ids;
}

ExecutorOptions options_with(int n_threads, bool has_wide_keys = false) {
  return {n_threads, kBlocks, 1024, 256, 256, has_wide_keys};
}

class CpuExecutorTest : public ::testing::TestWithParam<QuantFormat> {
 protected:
  CpuExecutorTest()
      : model_(Model::open(FileSet::directory(QWICK_SOURCE_DIR "/models/demo"))), weights_(pack()) {}

  PackedModel pack() {
    ThreadPool pool(2);
    return pack_model(model_, GetParam(), pool);
  }
  std::unique_ptr<CpuExecutor> make_executor(int n_threads, const Kernels& kernels) {
    return std::make_unique<CpuExecutor>(model_.config(), std::span<const float>(), weights_, kernels,
                                         options_with(n_threads, GetParam() == kQ6));
  }
  std::unique_ptr<CpuExecutor> make_executor(int n_threads) {
    return make_executor(n_threads, choose_kernels());
  }

  // Logits of all positions, in chunks of this many.
  static std::vector<float> logits_of(Executor& executor, std::span<const int32_t> ids, size_t chunk_size) {
    std::vector<int32_t> blocks(8);
    std::iota(blocks.rbegin(), blocks.rend(), 3);
    std::vector<float> all;
    for (size_t begin = 0; begin < ids.size(); begin += chunk_size) {
      const auto chunk = ids.subspan(begin, std::min(chunk_size, ids.size() - begin));
      const auto logits = executor.step(
          {{{blocks, static_cast<uint32_t>(begin), chunk, static_cast<uint32_t>(chunk.size())}}});
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  }

  Model model_;
  PackedModel weights_;
};

TEST_P(CpuExecutorTest, NearTheReference) {
  const std::vector<int32_t> ids = random_ids(150, 1);
  ReferenceExecutor reference(model_, options_with(2));
  const std::vector<float> wanted = logits_of(reference, ids, ids.size());
  const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
  // Roughly half a step of the weights' format, relative to the range; the instruction sets agree better.
  const double allowed = GetParam() == kQ8 ? 0.01 : GetParam() == kQ6 ? 0.02 : 0.06;
  for (const Kernels* kernels : available_kernels()) {
    const std::vector<float> logits = logits_of(*make_executor(2, *kernels), ids, ids.size());
    ASSERT_EQ(logits.size(), wanted.size());
    double squares = 0;
    for (size_t i = 0; i < logits.size(); ++i) squares += std::pow(logits[i] - wanted[i], 2);
    const double rms = std::sqrt(squares / static_cast<double>(logits.size())) / (*high - *low);
    std::printf("%s, %s: %zu logits compared, rms difference %.1e of their range\n", kernels->name,
                std::string(quant_format_name(GetParam())).c_str(), logits.size(), rms);
    EXPECT_LT(rms, allowed);
  }
}

TEST_P(CpuExecutorTest, ChunksAndThreadsChangeNoBit) {
  const std::vector<int32_t> ids = random_ids(150, 2);
  const std::vector<float> whole = logits_of(*make_executor(1), ids, ids.size());
  for (const int n_threads : {1, 2, 3}) {
    const auto executor = make_executor(n_threads);
    for (const size_t chunk_size : {1, 3, 7, 17, 33, 149}) {
      ASSERT_EQ(logits_of(*executor, ids, chunk_size), whole)
          << n_threads << " threads, chunks of " << chunk_size;
    }
  }
}

TEST_P(CpuExecutorTest, StrangersChangeNoBit) {
  const std::vector<int32_t> ids = random_ids(70, 3);
  const auto executor = make_executor(2);
  std::vector<float> alone = logits_of(*executor, ids, ids.size());
  alone.erase(alone.begin(), alone.end() - executor->vocab_size());

  // Sixteen others, decoding and reading prompts, before and behind.
  std::vector<std::vector<int32_t>> others;
  std::vector<std::vector<int32_t>> tables;
  for (int32_t i = 0; i < 16; ++i) {
    others.push_back(random_ids(1 + static_cast<size_t>(i) % 9, 10 + i));
    tables.push_back({20 + i});
  }
  const std::vector<int32_t> blocks = {60, 2, 50};
  StepBatch batch;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 9) batch.chunks.push_back({blocks, 0, ids, 1});
    batch.chunks.push_back({tables[i], 0, others[i], 1});
  }
  const auto logits = executor->step(batch);
  const auto row = logits.subspan(9 * executor->vocab_size(), executor->vocab_size());
  EXPECT_TRUE(std::equal(row.begin(), row.end(), alone.begin(), alone.end()));
}

INSTANTIATE_TEST_SUITE_P(All, CpuExecutorTest, ::testing::Values(kQ8, kQ6, kQ5, kQ4),
                         [](const auto& test) { return std::string(quant_format_name(test.param)); });

}  // namespace
}  // namespace qwick
