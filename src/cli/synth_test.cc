// The full shape of Qwen3-0.6B, two layers of it, with synth's weights: the reference forward pass
// against transformers (tests/golden/full_shape, made by tools/goldens/make_full_shape.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/numeric.h"
#include "cli/options.h"
#include "model/reference.h"

namespace qwick {
namespace {

const std::filesystem::path kGolden = QWICK_SOURCE_DIR "/tests/golden/full_shape";

TEST(Synth, FullShapeAgreesWithTransformers) {
  const MappedFile file = MappedFile::open(kGolden / "qwen3-0.6b-2layers.json");
  const Json golden = parse_json(file.text(), file.name());
  const MappedFile logits_file = MappedFile::open(kGolden / golden["logits_file"].get<std::string>());

  const auto folder = std::filesystem::temp_directory_path() / ("qwick_synth_" + std::to_string(::getpid()));
  cli::Options options;
  options.shape = "qwen3-0.6b";
  options.out_dir = folder.string();
  options.layers = 2;
  options.seed = 0;
  ASSERT_EQ(cli::synth(options), 0);

  const Model model = Model::open(FileSet::directory(folder));
  const auto ids = golden["ids"].get<std::vector<int32_t>>();
  const auto vocab_ids = golden["vocab_ids"].get<std::vector<size_t>>();
  const auto n_positions = static_cast<uint32_t>(golden["logits_positions"].size());
  const size_t vocab_size = model.config().vocab_size;
  std::vector<float> logits(n_positions * vocab_size);
  ReferenceCache cache(model.config(), 1);
  const std::vector<int32_t> blocks = {0};
  const ReferenceChunk chunk{ids, 0, blocks, n_positions};
  Reference(model, 2).forward({&chunk, 1}, cache, logits);

  float largest = 0;
  float range = 0;
  for (uint32_t row = 0; row < n_positions; ++row) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * vocab_size);
    const auto end = begin + static_cast<std::ptrdiff_t>(vocab_size);
    EXPECT_EQ(std::max_element(begin, end) - begin, golden["argmax"][row].get<std::ptrdiff_t>());
    range = std::max(range, golden["max"][row].get<float>() - golden["min"][row].get<float>());
    for (size_t i = 0; i < vocab_ids.size(); ++i) {
      const auto wanted =
          load<float>(logits_file.bytes().data() + sizeof(float) * (row * vocab_ids.size() + i));
      largest = std::max(largest, std::abs(logits[row * vocab_size + vocab_ids[i]] - wanted));
    }
  }
  std::printf("Qwen3-0.6B shape, 2 layers: %zu logits compared, largest difference %.1e of their range\n",
              n_positions * vocab_ids.size(), largest / range);
  EXPECT_LT(largest / range, 1e-4F);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace qwick
