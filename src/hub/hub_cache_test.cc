// The layout of the cache, when a model in it is whole, and what is removed.
#include "hub/hub_cache.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "hub/file_lock.h"
#include "hub/test_directory.h"

namespace qwick {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::write_file;

const std::string kOld(40, '1');
const std::string kNew(40, '2');

class HubCacheTest : public ::testing::Test {
 protected:
  // A blob that is named by `digit`, as a file of a snapshot.
  void add(const std::string& commit, const std::string& path, char digit,
           const std::string& text = "text") const {
    const BlobHash hash{std::string(64, digit)};
    write_file(cache_.blob("org/m", hash), text);
    cache_.link("org/m", commit, path, hash);
  }
  fs::path snapshot(const std::string& commit) const {
    return directory_.path() / "models--org--m" / "snapshots" / commit;
  }
  bool has_blob(char digit) const { return fs::exists(cache_.blob("org/m", {std::string(64, digit)})); }

  testing::TestDirectory directory_;
  HubCache cache_{directory_.path()};
};

TEST_F(HubCacheTest, FindsWholeModelsAlone) {
  const HubName name{"org/m", "", ""};
  EXPECT_FALSE(cache_.find(name));
  add(kOld, "config.json", 'a');
  add(kOld, "tokenizer.json", 'b');
  cache_.set_revision("org/m", "main", kOld);
  EXPECT_FALSE(cache_.find(name));
  add(kOld, "model.safetensors", 'c');
  EXPECT_EQ(cache_.find(name), snapshot(kOld));
  EXPECT_EQ(fs::read_symlink(snapshot(kOld) / "config.json"), "../../blobs/" + std::string(64, 'a'));
  EXPECT_EQ(read_file(directory_.path() / "models--org--m/refs/main"), kOld);
  EXPECT_EQ(cache_.find({"org/m", kOld, ""}), snapshot(kOld));
  EXPECT_FALSE(cache_.find({"org/m", "v1", ""}));
  fs::remove(cache_.blob("org/m", {std::string(64, 'c')}));
  EXPECT_FALSE(cache_.find(name));
}

TEST_F(HubCacheTest, CountsShards) {
  for (const char* file : {"config.json", "tokenizer.json", "model.safetensors.index.json"})
    add(kOld, file, 'a');
  add(kOld, "model-00001-of-00002.safetensors", 'b');
  EXPECT_FALSE(model_in(snapshot(kOld), ""));
  add(kOld, "model-00002-of-00002.safetensors", 'c');
  EXPECT_EQ(model_in(snapshot(kOld), ""), snapshot(kOld));
}

TEST_F(HubCacheTest, KnowsGgufFiles) {
  add(kOld, "q8.gguf", 'a');
  EXPECT_EQ(model_in(snapshot(kOld), ""), snapshot(kOld) / "q8.gguf");
  add(kOld, "sub/q4.gguf", 'b');
  EXPECT_EQ(fs::read_symlink(snapshot(kOld) / "sub/q4.gguf"), "../../../blobs/" + std::string(64, 'b'));
  EXPECT_EQ(model_in(snapshot(kOld), "sub/q4.gguf"), snapshot(kOld) / "sub/q4.gguf");
  add(kOld, "q4.gguf", 'b');
  EXPECT_FALSE(model_in(snapshot(kOld), ""));  // which of them?
  EXPECT_FALSE(model_in(snapshot(kOld), "q5.gguf"));
}

TEST_F(HubCacheTest, RemovesWhatNobodyElseUses) {
  add(kOld, "config.json", 'a');
  add(kOld, "x.gguf", 'b', "12345");
  add(kNew, "config.json", 'a');
  add(kNew, "x.gguf", 'c');
  cache_.set_revision("org/m", "v1", kOld);
  cache_.set_revision("org/m", "main", kNew);
  ASSERT_EQ(cache_.snapshots().size(), 2U);
  EXPECT_EQ(cache_.snapshots()[0].revisions, std::vector<std::string>{"v1"});

  EXPECT_THROW(cache_.remove({"org/m", "", "y.gguf"}), Error);
  EXPECT_EQ(cache_.remove({"org/m", "v1", ""}), 5U);
  EXPECT_FALSE(fs::exists(snapshot(kOld)));
  EXPECT_FALSE(has_blob('b'));
  EXPECT_TRUE(has_blob('a'));
  EXPECT_FALSE(fs::exists(directory_.path() / "models--org--m/refs/v1"));
  EXPECT_THROW(cache_.remove({"org/m", "v1", ""}), Error);

  EXPECT_EQ(cache_.remove({"org/m", "", "x.gguf"}), 4U);
  EXPECT_TRUE(fs::exists(snapshot(kNew) / "config.json"));
  cache_.remove({"org/m", "", ""});
  EXPECT_FALSE(fs::exists(directory_.path() / "models--org--m"));
  EXPECT_THROW(cache_.remove({"org/m", "", ""}), Error);
}

TEST_F(HubCacheTest, RemovesNothingOutside) {
  const fs::path outside = directory_.path() / "outside";
  write_file(outside / "precious.gguf", "precious");
  fs::create_directories(snapshot(kOld));
  fs::create_symlink(outside / "precious.gguf", snapshot(kOld) / "x.gguf");
  fs::create_directory_symlink(outside, snapshot(kOld) / "folder");
  cache_.remove({"org/m", kOld, ""});
  EXPECT_FALSE(fs::exists(snapshot(kOld)));
  EXPECT_EQ(read_file(outside / "precious.gguf"), "precious");
}

TEST_F(HubCacheTest, WaitsForNobodyButTellsOfThem) {
  add(kOld, "x.gguf", 'b');
  const BlobHash hash{std::string(64, 'b')};
  {
    const auto lock = FileLock::try_take(cache_.lock("org/m", hash));
    ASSERT_TRUE(lock);
    EXPECT_FALSE(FileLock::try_take(cache_.lock("org/m", hash)));
    EXPECT_THROW(cache_.remove({"org/m", "", ""}), Error);
    EXPECT_TRUE(has_blob('b'));
  }
  cache_.remove({"org/m", "", ""});
  EXPECT_FALSE(has_blob('b'));
}

}  // namespace
}  // namespace qwick
