// Safetensors: single files and shards, every kind of broken file, and the writer.
#include "format/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "format/safetensors_writer.h"
#include "format/test_files.h"

namespace qwick {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::memory_file;
using testing::safetensors_bytes;

std::string refusal(const std::string& bytes, ErrorCode code = ErrorCode::kInvalidFile) {
  const std::string message =
      error_of([&] { Safetensors::open_file(memory_file("m.safetensors", bytes)); }, code);
  EXPECT_TRUE(message.starts_with("m.safetensors: ")) << message;
  return message;
}

// One tensor "t" with these fields, over 16 bytes of data.
std::string with_tensor(const std::string& fields) {
  return safetensors_bytes("{\"t\":{" + fields + "}}", 16);
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  const std::string bytes = safetensors_bytes(
      R"({"__metadata__":{"format":"pt","x":"y"},
          "b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},
          "a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"},
          "c":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}})",
      20);
  const Safetensors file = Safetensors::open_file(memory_file("m", bytes));
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[0].n_elements(), 1U);
  EXPECT_EQ(file.tensors()[1].dtype, DType::kF16);
  EXPECT_EQ(file.tensors()[2].shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(file.tensors()[2].data.size(), 12U);
  EXPECT_EQ(Safetensors::open_file(memory_file("m", safetensors_bytes("{}", 0))).tensors().size(), 0U);
}

TEST(Safetensors, RefusesBadHeaderLengths) {
  expect_contains(refusal(""), "truncated: 0 bytes");
  expect_contains(refusal("1234567"), "truncated: 7 bytes");
  for (const uint64_t length : {uint64_t{1} << 63, UINT64_MAX, uint64_t{100'000'001}}) {
    std::string bytes;
    testing::append(bytes, length);
    expect_contains(refusal(bytes + "{}"), fmt::format("the header's length at offset 0 is {}", length));
  }
  std::string bytes;
  testing::append(bytes, uint64_t{3});
  expect_contains(refusal(bytes + "{}"), "truncated: a header of 3 bytes at offset 8, the file ends after 2");
}

TEST(Safetensors, RefusesBrokenHeaders) {
  expect_contains(refusal(safetensors_bytes("[]", 0)), "the header at offset 8 is no JSON object");
  expect_contains(refusal(safetensors_bytes("\xef\xbb\xbf{}", 0)), "no JSON object");
  expect_contains(refusal(safetensors_bytes("{", 0)), "the JSON text is broken at its byte");
  expect_contains(refusal(safetensors_bytes("{\"a\xff\":{}}", 0)), "broken at its byte");
  expect_contains(refusal(safetensors_bytes(R"({"t":1})", 0)), "tensor \"t\": unexpected a number");
  expect_contains(refusal(safetensors_bytes(R"({"t":[]})", 0)), "tensor \"t\": unexpected an array");
  expect_contains(refusal(safetensors_bytes(R"({"__metadata__":{"a":{}}})", 0)),
                  "__metadata__: unexpected an object");
  expect_contains(refusal(safetensors_bytes(std::string(5000, '[').insert(0, "{\"t\":"), 0)),
                  "unexpected an array");
  const std::string good = R"("dtype":"F32","shape":[4],"data_offsets":[0,16])";
  expect_contains(refusal(safetensors_bytes("{\"t\":{" + good + "},\"t\":{" + good + "}}", 16)),
                  "\"t\" appears twice in the header");
  expect_contains(refusal(with_tensor(good + R"(,"shape":[4])")), "tensor \"t\": unexpected second shape");
  expect_contains(refusal(with_tensor(good + R"(,"more":1)")), "tensor \"t\": unexpected field \"more\"");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4])")), "dtype, shape and data_offsets");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0])")), "of two numbers");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,1,2])")),
                  "unexpected a number");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])")),
                  "a negative number");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])")), "a fraction");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":["4"],"data_offsets":[0,16])")), "a string");
  expect_contains(
      refusal(with_tensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,16])")),
      "a fraction");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,4],"data_offsets":[0,16])")),
                  "unexpected a number");
}

TEST(Safetensors, RefusesOtherTypes) {
  for (const std::string dtype : {"F64", "I64", "F8_E4M3", "BOOL", "\\n"}) {
    const std::string message =
        refusal(with_tensor("\"dtype\":\"" + dtype + R"(","shape":[2],"data_offsets":[0,16])"),
                ErrorCode::kUnsupported);
    expect_contains(message,
                    "tensor \"t\": type \"" + (dtype == "\\n" ? "\\x0a" : dtype) + "\" can't be read");
  }
}

TEST(Safetensors, RefusesSizesThatDoNotFit) {
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[5],"data_offsets":[0,20])")),
                  "tensor \"t\": data_offsets [0, 20] lie beyond the 16 bytes of data");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])")),
                  "[16, 0] lie beyond");
  expect_contains(
      refusal(with_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,18446744073709551615])")),
      "lie beyond");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,16])")),
                  "data_offsets [0, 16] give 16 bytes, its shape and type 12");
  expect_contains(
      refusal(with_tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])")),
      "dimensions are zero or their product overflows");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])")),
                  "its shape and type more than 2^64");
  expect_contains(refusal(with_tensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,0])")),
                  "dimensions are zero");
}

TEST(Safetensors, RefusesOverlapsHolesAndMisalignment) {
  const auto pair = [](const std::string& a, const std::string& b, size_t n_bytes) {
    return safetensors_bytes("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + a +
                                 "},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + b + "}}",
                             n_bytes);
  };
  expect_contains(refusal(pair("[0,8]", "[4,12]", 12)), "tensor \"b\" overlaps another at offset ");
  expect_contains(refusal(pair("[0,8]", "[0,8]", 8)), "overlaps another");
  expect_contains(refusal(pair("[0,8]", "[12,20]", 20)), "tensor \"b\" comes after a hole");
  expect_contains(refusal(pair("[4,12]", "[12,20]", 20)), "tensor \"a\" comes after a hole");
  expect_contains(refusal(pair("[0,8]", "[8,16]", 17)), "1 bytes at offset ");
  const std::string header = R"({"t":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}} )";
  ASSERT_EQ(header.size() % 2, 0U);
  Safetensors::open_file(memory_file("m", safetensors_bytes(header, 4, false)));
  expect_contains(refusal(safetensors_bytes(header + " ", 4, false)),
                  "tensor \"t\": misaligned: its data at offset 65 is not a multiple of the 2 bytes of BF16");
}

TEST(Safetensors, TruncatedAnywhere) {
  const std::string bytes = with_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])");
  Safetensors::open_file(memory_file("m", bytes));
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string part = bytes.substr(0, n);
    refusal(part);
  }
}

class Shards : public ::testing::Test {
 protected:
  static std::string shard(const std::string& tensor) {
    return safetensors_bytes("{\"" + tensor + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  }
  Safetensors open(const std::string& weight_map) {
    index_ =
        R"({"metadata":{"total_size":16,"x":[1,{"weight_map":{"deep":1}}]},"weight_map":)" + weight_map + "}";
    const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    return Safetensors::open(FileSet::embedded("set", {{"1.safetensors", bytes(first_)},
                                                       {"2.safetensors", bytes(second_)},
                                                       {"model.safetensors.index.json", bytes(index_)}}));
  }
  std::string refusal(const std::string& weight_map, ErrorCode code = ErrorCode::kInvalidFile) {
    return error_of([&] { open(weight_map); }, code);
  }
  std::string first_ = shard("a");
  std::string second_ = shard("b");
  std::string index_;
};

TEST_F(Shards, AreOneModel) {
  const Safetensors both = open(R"({"b":"2.safetensors","a":"1.safetensors"})");
  ASSERT_EQ(both.tensors().size(), 2U);
  EXPECT_EQ(both.tensors()[0].name, "a");
  EXPECT_EQ(both.tensors()[1].name, "b");
  EXPECT_EQ(both.files().size(), 2U);
}

TEST_F(Shards, IndexAndFilesMustAgree) {
  expect_contains(refusal(R"({"a":"1.safetensors","b":"1.safetensors"})"),
                  "tensor \"b\" is not in 1.safetensors");
  expect_contains(refusal(R"({"b":"2.safetensors","c":"1.safetensors"})"),
                  "set/1.safetensors: tensor \"a\" is not");
  expect_contains(refusal(R"({"a":"1.safetensors","b":"3.safetensors"})", ErrorCode::kNotFound),
                  "3.safetensors");
  second_ = shard("a");
  expect_contains(refusal(R"({"a":"1.safetensors","b":"2.safetensors"})"),
                  "set/2.safetensors: tensor \"a\" is not");
  expect_contains(refusal(R"({"a":"1.safetensors","a":"2.safetensors"})"), "weight_map names \"a\" twice");
  expect_contains(refusal("{}"), "weight_map is missing or empty");
  expect_contains(refusal("[]"), "weight_map: unexpected an array");
  expect_contains(refusal(R"({"a":{}})"), "weight_map: unexpected an object");
  expect_contains(refusal(R"({"a":null})"), "weight_map: unexpected null");
}

TEST_F(Shards, NamesStayInside) {
  for (const std::string name :
       {"../1.safetensors", "/etc/x.safetensors", "a/b.safetensors", "", "1.safetensors\\u0000"}) {
    refusal("{\"a\":\"" + name + "\"}");
  }
  expect_contains(refusal(R"({"a":"config.json"})"), "shard \"config.json\" is no .safetensors file");
}

TEST(SafetensorsSet, NamesWhatIsMissing) {
  expect_contains(error_of([] { Safetensors::open(FileSet::embedded("set", {})); }, ErrorCode::kNotFound),
                  "set: neither model.safetensors nor model.safetensors.index.json");
}

class WriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("qwick_writer_" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory_);
    path_ = directory_ / "model.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_, path_;
};

TEST_F(WriterTest, WhatItWritesIsRead) {
  std::vector<std::byte> data(24 + 6);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  {
    SafetensorsWriter writer(path_, {{"a\"\\\u00e9", DType::kF32, {2, 3}}, {"b", DType::kBF16, {3}}});
    EXPECT_EQ(writer.n_bytes(), data.size());
    writer.write(std::span(data).first(7));
    writer.write(std::span(data).subspan(7));
    EXPECT_FALSE(std::filesystem::exists(path_));
    writer.finish();
  }
  const Safetensors file = Safetensors::open_file(MappedFile::open(path_));
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.tensors()[0].name, "a\"\\\u00e9");
  EXPECT_EQ(file.tensors()[0].shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(0, std::memcmp(file.tensors()[0].data.data(), data.data(), 24));
  EXPECT_EQ(file.tensors()[1].dtype, DType::kBF16);
  EXPECT_EQ(0, std::memcmp(file.tensors()[1].data.data(), data.data() + 24, 6));
  EXPECT_EQ((file.tensors()[0].data.data() - file.files()[0].bytes().data()) % 8, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(WriterTest, LeavesNothingWhenItDoesNotFinish) {
  {
    const SafetensorsWriter writer(path_, {{"a", DType::kF32, {2}}});
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(WriterTest, RefusesWhatTheFormatCanNotHold) {
  const auto refusal = [&](const std::vector<TensorSpec>& tensors) {
    return error_of([&] { const SafetensorsWriter writer(path_, tensors); }, ErrorCode::kInvalidArgument);
  };
  expect_contains(refusal({{"a", DType::kQ8_0, {32}}}), "tensor \"a\": safetensors has no type Q8_0");
  expect_contains(refusal({{"a", DType::kF32, {1}}, {"a", DType::kF32, {1}}}), "\"a\" appears twice");
  expect_contains(refusal({{"a", DType::kF32, {uint64_t{1} << 32, uint64_t{1} << 32}}}), "overflows");
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(WriterTest, SaysWhyItCanNotWrite) {
  expect_contains(
      error_of([&] { const SafetensorsWriter writer(directory_ / "no" / "x", {}); }, ErrorCode::kIo),
      "no/x: can't write it: No such file or directory");
  // A full disk, as a limit on the size of files.
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1 << 16, old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<std::byte> data(1 << 20);
  const std::string message = error_of(
      [&] {
        SafetensorsWriter writer(path_, {{"a", DType::kF32, {1 << 18}}});
        writer.write(data);
        writer.finish();
      },
      ErrorCode::kIo);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  expect_contains(message, "can't write it: File too large");
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

}  // namespace
}  // namespace qwick
