// The reference forward pass against transformers: every architecture and RoPE kind, goldens from
// tools/goldens. And against itself: batching and chunking change no bit.
#include "model/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/json.h"

namespace qwick {
namespace {

const std::filesystem::path kTiny = QWICK_SOURCE_DIR "/tests/golden/tiny";

Model open_tiny(const std::filesystem::path& path) {
  if (path.extension() == ".gguf")
    return Model::open(std::make_shared<const GgufFile>(GgufFile::open(MappedFile::open(path))));
  return Model::open(FileSet::directory(path));
}

// Logits of all positions, the ids given in chunks of this many.
std::vector<float> logits_of(const Model& model, std::span<const int32_t> ids, size_t chunk_size,
                             int n_threads) {
  Reference reference(model, n_threads);
  const std::vector<int32_t> blocks = {3, 0, 2, 1};
  ReferenceCache cache(model.config(), 4);
  std::vector<float> all(ids.size() * model.config().vocab_size);
  for (size_t begin = 0; begin < ids.size(); begin += chunk_size) {
    const size_t n = std::min(chunk_size, ids.size() - begin);
    const ReferenceChunk chunk{ids.subspan(begin, n), static_cast<uint32_t>(begin), blocks,
                               static_cast<uint32_t>(n)};
    reference.forward(
        {&chunk, 1}, cache,
        std::span(all).subspan(begin * model.config().vocab_size, n * model.config().vocab_size));
  }
  return all;
}

struct Golden {
  std::vector<int32_t> ids;
  std::vector<size_t> positions;
  std::vector<float> logits;  // [positions, vocab_size]
};

// "golden.json" in a model's directory, or "NAME.golden.json" beside NAME.gguf.
Golden read_golden(const std::filesystem::path& model) {
  const bool is_gguf = model.extension() == ".gguf";
  const std::filesystem::path folder = is_gguf ? model.parent_path() : model;
  const std::string prefix = is_gguf ? model.stem().string() + "." : "";
  const MappedFile file = MappedFile::open(folder / (prefix + "golden.json"));
  const Json json = parse_json(file.text(), file.name());
  const MappedFile logits = MappedFile::open(folder / json["logits_file"].get<std::string>());
  Golden golden{json["ids"], json["logits_positions"],
                std::vector<float>(logits.bytes().size() / sizeof(float))};
  std::memcpy(golden.logits.data(), logits.bytes().data(), logits.bytes().size());
  return golden;
}

std::vector<std::filesystem::path> tiny_models() {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(kTiny)) {
    if (entry.is_directory() || entry.path().extension() == ".gguf") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

class TinyModels : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(TinyModels, LogitsAgreeWithTransformers) {
  const Model model = open_tiny(GetParam());
  const Golden golden = read_golden(GetParam());
  const size_t vocab_size = model.config().vocab_size;
  const std::vector<float> logits = logits_of(model, golden.ids, golden.ids.size(), 2);
  const auto [low, high] = std::minmax_element(golden.logits.begin(), golden.logits.end());
  float largest = 0;
  for (size_t i = 0; i < golden.positions.size(); ++i) {
    for (size_t id = 0; id < vocab_size; ++id) {
      largest = std::max(largest, std::abs(logits[golden.positions[i] * vocab_size + id] -
                                           golden.logits[i * vocab_size + id]));
    }
  }
  const float relative = largest / (*high - *low);
  std::printf("%s: %zu logits compared, largest difference %.1e of their range\n",
              GetParam().filename().c_str(), golden.logits.size(), relative);
  EXPECT_LT(relative, 1e-4F);
}

TEST_P(TinyModels, ChunksAndThreadsChangeNoBit) {
  const Model model = open_tiny(GetParam());
  const std::vector<int32_t> ids = read_golden(GetParam()).ids;
  const std::vector<float> whole = logits_of(model, ids, ids.size(), 1);
  for (const size_t chunk_size : {size_t{1}, size_t{3}, size_t{17}}) {
    EXPECT_EQ(logits_of(model, ids, chunk_size, 2), whole) << chunk_size;
  }
  EXPECT_EQ(logits_of(model, ids, 5, 3), whole);
}

TEST_P(TinyModels, NeighboursChangeNoBit) {
  const Model model = open_tiny(GetParam());
  const std::vector<int32_t> ids = read_golden(GetParam()).ids;
  const std::vector<int32_t> others(ids.rbegin(), ids.rend());
  const size_t vocab_size = model.config().vocab_size;
  const std::vector<float> alone = logits_of(model, ids, ids.size(), 1);

  Reference reference(model, 2);
  ReferenceCache cache(model.config(), 8);
  const std::vector<int32_t> blocks_a = {7};
  const std::vector<int32_t> blocks_b = {1, 0};
  const auto n = static_cast<uint32_t>(ids.size());
  const ReferenceChunk chunks[] = {{std::span(others).first(7), 0, blocks_a, 2}, {ids, 0, blocks_b, n}};
  std::vector<float> logits((2 + n) * vocab_size);
  reference.forward(chunks, cache, logits);
  EXPECT_TRUE(
      std::equal(alone.begin(), alone.end(), logits.begin() + static_cast<std::ptrdiff_t>(2 * vocab_size)));
}

INSTANTIATE_TEST_SUITE_P(All, TinyModels, ::testing::ValuesIn(tiny_models()), [](const auto& name) {
  std::string id = name.param.filename().string();
  std::replace_if(id.begin(), id.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return id;
});

}  // namespace
}  // namespace qwick
