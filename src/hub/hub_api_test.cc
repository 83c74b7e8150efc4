// Lists of files, as the hubs write them. What is refused is in tests/e2e/test_pull.py too.
#include "hub/hub_api.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace qwick {
namespace {

const std::string kSha1(40, 'a');
const std::string kSha256(64, 'b');

std::string hugging_face_list() {
  return R"({"_id":"1","id":"org/m","sha":")" + kSha1 + R"(","siblings":[
    {"rfilename":".gitattributes","size":3},
    {"rfilename":"config.json","blobId":")" +
         kSha1 + R"(","size":7},
    {"rfilename":"tokenizer.json","blobId":")" +
         kSha1 + R"(","size":8},
    {"rfilename":"model.safetensors","blobId":")" +
         kSha1 + R"(","size":135,
     "lfs":{"sha256":")" +
         kSha256 + R"(","size":9,"pointerSize":135}},
    {"rfilename":"model.safetensors.index.json","blobId":")" +
         kSha1 + R"(","size":1},
    {"rfilename":"original/model.safetensors","blobId":")" +
         kSha1 + R"(","size":1},
    {"rfilename":"consolidated.safetensors","blobId":")" +
         kSha1 + R"(","size":1}]})";
}

std::vector<std::string> paths(const std::vector<RemoteFile>& files) {
  std::vector<std::string> names;
  std::transform(files.begin(), files.end(), std::back_inserter(names),
                 [](const auto& file) { return file.path; });
  return names;
}

TEST(HubApi, HuggingFace) {
  const HubName name{"org/m", "", ""};
  EXPECT_EQ(hugging_face_list_url("http://h", {"org/m", "refs/pr/1", ""}),
            "http://h/api/models/org/m/revision/refs%2Fpr%2F1?blobs=true");
  const RemoteModel model = parse_hugging_face_list(hugging_face_list(), "http://h", name);
  EXPECT_EQ(model.commit, kSha1);
  const auto files = select_files(model, name);
  EXPECT_EQ(paths(files), (std::vector<std::string>{"config.json", "tokenizer.json", "model.safetensors"}));
  EXPECT_EQ(files[0].hash.hex, kSha1);
  EXPECT_EQ(files[0].url, "http://h/org/m/resolve/" + kSha1 + "/config.json");
  EXPECT_EQ(files[2].hash.hex, kSha256);
  EXPECT_EQ(files[2].size, 9U);
}

TEST(HubApi, ModelScope) {
  const HubName name{"org/m", "", ""};
  EXPECT_EQ(modelscope_list_url("http://h", name),
            "http://h/api/v1/models/org/m/repo/files?Revision=master&Recursive=true");
  const auto list = [](const std::string& first, const std::string& second) {
    return R"({"Code":200,"Data":{"Files":[{"Path":"docs","Size":0,"Sha256":"","Type":"tree"},)" + first +
           "," + second + "]}}";
  };
  const auto file = [](const std::string& path) {
    return R"({"Path":")" + path + R"(","Size":5,"Sha256":")" + kSha256 + R"(","Type":"blob"})";
  };
  const RemoteModel model = parse_modelscope_list(list(file("a b.gguf"), file("c.gguf")), "http://h", name);
  ASSERT_EQ(model.files.size(), 2U);
  EXPECT_EQ(model.files[0].url, "http://h/api/v1/models/org/m/repo?Revision=master&FilePath=a%20b.gguf");
  EXPECT_EQ(parse_modelscope_list(list(file("c.gguf"), file("a b.gguf")), "http://h", name).commit,
            model.commit);
  EXPECT_NE(parse_modelscope_list(list(file("d.gguf"), file("a b.gguf")), "http://h", name).commit,
            model.commit);
  EXPECT_THROW(parse_modelscope_list(R"({"Code":404,"Message":"no"})", "http://h", name), Error);
}

TEST(HubApi, Selects) {
  const auto model_of = [](const std::vector<std::string>& names) {
    RemoteModel model;
    for (const std::string& name : names) model.files.push_back({name, 1, {kSha256}, ""});
    return model;
  };
  const HubName name{"org/m", "", ""};
  const RemoteModel shards =
      model_of({"config.json", "tokenizer.json", "model.safetensors.index.json",
                "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "x.gguf"});
  EXPECT_EQ(select_files(shards, name).size(), 5U);
  EXPECT_EQ(paths(select_files(shards, {"org/m", "", "x.gguf"})), std::vector<std::string>{"x.gguf"});
  EXPECT_THROW(select_files(shards, {"org/m", "", "y.gguf"}), Error);
  EXPECT_EQ(select_files(model_of({"x.gguf"}), name).size(), 1U);
  EXPECT_THROW(select_files(model_of({"x.gguf", "y.gguf"}), name), Error);
  EXPECT_THROW(select_files(model_of({"config.json", "tokenizer.json"}), name), Error);
  EXPECT_THROW(select_files(model_of({"config.json", "model.safetensors"}), name), Error);
}

}  // namespace
}  // namespace qwick
