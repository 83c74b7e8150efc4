// What the fingerprint of a model's files notices.
#include "model/source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/test_models.h"

namespace qwick {
namespace {

namespace fs = std::filesystem;

class SourceTest : public ::testing::Test {
 protected:
  SourceTest() : directory_(fs::temp_directory_path() / ("qwick_source_" + std::to_string(::getpid()))) {
    fs::copy(QWICK_SOURCE_DIR "/models/demo", directory_, fs::copy_options::recursive);
    fs::copy(QWICK_SOURCE_DIR "/tests/golden/tiny/qwen3-q4_0.gguf", directory_ / "tiny.gguf");
  }
  ~SourceTest() override { fs::remove_all(directory_); }

  ModelSource of_directory() const { return source_of(Model::open(FileSet::directory(directory_))).value(); }
  ModelSource of_gguf() const {
    return source_of(Model::open(std::make_shared<const GgufFile>(
                         GgufFile::open(MappedFile::open(directory_ / "tiny.gguf")))))
        .value();
  }
  void touch(const char* file) const {
    fs::last_write_time(directory_ / file,
                        fs::last_write_time(directory_ / file) + std::chrono::microseconds(1));
  }

  fs::path directory_;
};

TEST_F(SourceTest, SameFilesSameFingerprint) {
  const ModelSource source = of_directory();
  EXPECT_EQ(source.path, fs::canonical(directory_).string());
  EXPECT_EQ(source.name, directory_.filename().string());
  EXPECT_EQ(of_gguf().name, "tiny");
  touch("tokenizer.json");  // none of its business
  EXPECT_EQ(of_directory().fingerprint, source.fingerprint);
  EXPECT_NE(of_gguf().fingerprint, source.fingerprint);
  EXPECT_NE(of_gguf().path_hash, source.path_hash);
}

TEST_F(SourceTest, NoticesChanges) {
  const uint64_t first = of_directory().fingerprint;
  const fs::path config = directory_ / "config.json";
  std::ofstream(config, std::ios::app) << ' ';
  const uint64_t second = of_directory().fingerprint;
  EXPECT_NE(second, first);
  touch("model.safetensors");
  EXPECT_NE(of_directory().fingerprint, second);

  const uint64_t gguf = of_gguf().fingerprint;
  touch("tiny.gguf");
  EXPECT_NE(of_gguf().fingerprint, gguf);

  // Other contents with the time and the size of before: the header tells.
  const fs::path weights = directory_ / "model.safetensors";
  const uint64_t third = of_directory().fingerprint;
  const auto time = fs::last_write_time(weights);
  std::string bytes(MappedFile::open(weights).text());
  const size_t at = bytes.find("\"pt\"");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 'q';
  std::ofstream(weights, std::ios::binary) << bytes;
  fs::last_write_time(weights, time);
  EXPECT_NE(of_directory().fingerprint, third);
}

TEST(Source, NoneInMemory) {
  testing::HfFiles files("qwen3");
  EXPECT_FALSE(source_of(Model::open(files.set())));
}

}  // namespace
}  // namespace qwick
