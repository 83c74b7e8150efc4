// GgufFile: what it reads, and that every kind of broken file is refused with its name and place.
#include "format/gguf.h"

#include <gtest/gtest.h>

#include "format/test_files.h"

namespace qwick {
namespace {

using testing::append;
using testing::error_of;
using testing::expect_contains;
using testing::GgufBuilder;
using testing::memory_file;

std::string refusal(const std::string& bytes, ErrorCode code = ErrorCode::kInvalidFile) {
  const std::string message = error_of([&] { GgufFile::open(memory_file("f.gguf", bytes)); }, code);
  EXPECT_TRUE(message.starts_with("f.gguf: ")) << message;
  return message;
}

TEST(Gguf, ReadsEveryValueType) {
  GgufBuilder builder;
  builder.number("u8", 0, uint8_t{200}).number("i8", 1, int8_t{-3}).number("u16", 2, uint16_t{60000});
  builder.number("i16", 3, int16_t{-300})
      .u32("u32", 4000000000)
      .number("i32", 5, int32_t{7})
      .f32("f32", 0.5F);
  builder.number("bool", 7, uint8_t{1}).text("text", "hello").number("u64", 10, uint64_t{1} << 63);
  builder.number("i64", 11, int64_t{-1}).number("f64", 12, 1e300).texts("texts", {"a", "", "b\n"});
  builder.array("u8s", 0, 2, "\x01\xff").array("i16s", 3, 1, std::string("\xfe\xff", 2)).array("none", 6, 0);
  builder.array("bools", 7, 2, std::string("\x01\x00", 2))
      .array("f32s", 6, 1, std::string("\0\0\x80\x3f", 4));
  builder.version = 2;
  const std::string bytes = builder.build();
  const GgufFile file = GgufFile::open(memory_file("f.gguf", bytes));
  EXPECT_EQ(file.version(), 2U);
  EXPECT_EQ(file.metadata().size(), 18U);
  EXPECT_EQ(file.get_uint("u8"), 200U);
  EXPECT_EQ(file.get_uint("u16"), 60000U);
  EXPECT_EQ(file.get_uint("u32"), 4000000000U);
  EXPECT_EQ(file.get_uint("i32"), 7U);
  EXPECT_EQ(file.get_uint("u64"), uint64_t{1} << 63);
  EXPECT_EQ(std::get<int64_t>(*file.find("i8")), -3);
  EXPECT_EQ(std::get<int64_t>(*file.find("i16")), -300);
  EXPECT_EQ(std::get<int64_t>(*file.find("i64")), -1);
  EXPECT_EQ(file.get_float("f32"), 0.5);
  EXPECT_EQ(file.get_float("f64"), 1e300);
  EXPECT_EQ(file.get_float("i8"), -3.0);
  EXPECT_EQ(file.find_bool("bool"), true);
  EXPECT_EQ(file.get_string("text"), "hello");
  EXPECT_EQ(file.get_strings("texts"), (std::vector<std::string_view>{"a", "", "b\n"}));
  EXPECT_EQ(file.find_ints("u8s"), (std::vector<int64_t>{1, 255}));
  EXPECT_EQ(file.find_ints("i16s"), (std::vector<int64_t>{-2}));
  EXPECT_EQ(file.find_floats("none"), std::vector<double>{});
  EXPECT_EQ(file.find_floats("f32s"), std::vector<double>{1.0});
  EXPECT_EQ(std::get<std::vector<bool>>(*file.find("bools")), (std::vector<bool>{true, false}));
  EXPECT_EQ(file.find_uint("absent"), std::nullopt);
}

TEST(Gguf, TypedAccessNamesTheKey) {
  const std::string bytes = GgufBuilder().text("text", "x").number("minus", 5, int32_t{-1}).build();
  const GgufFile file = GgufFile::open(memory_file("f.gguf", bytes));
  EXPECT_EQ(error_of([&] { file.get_uint("absent"); }), "f.gguf: metadata key \"absent\" is missing");
  EXPECT_EQ(error_of([&] { file.get_strings("absent"); }), "f.gguf: metadata key \"absent\" is missing");
  EXPECT_EQ(error_of([&] { file.get_uint("text"); }),
            "f.gguf: metadata key \"text\" must be a whole number, not negative");
  EXPECT_EQ(error_of([&] { file.get_uint("minus"); }),
            "f.gguf: metadata key \"minus\" must be a whole number, not negative");
  EXPECT_EQ(error_of([&] { file.get_string("minus"); }), "f.gguf: metadata key \"minus\" must be a string");
  EXPECT_EQ(error_of([&] { file.find_bool("text"); }), "f.gguf: metadata key \"text\" must be a boolean");
  EXPECT_EQ(error_of([&] { file.find_floats("text"); }),
            "f.gguf: metadata key \"text\" must be an array of floating-point numbers");
}

TEST(Gguf, TensorsAreViewsRowByRow) {
  GgufBuilder builder;
  builder.u32("general.alignment", 64).tensor("v", {3});
  builder.alignment = 64;
  builder.tensors.push_back({"q", 8, {32, 5}, 5 * 34, {}});
  const std::string bytes = builder.build();
  const GgufFile file = GgufFile::open(memory_file("f.gguf", bytes));
  ASSERT_EQ(file.tensors().size(), 2U);
  const TensorView& q = file.tensors()[1];
  EXPECT_EQ(q.name, "q");
  EXPECT_EQ(q.dtype, DType::kQ8_0);
  EXPECT_EQ(q.shape, (std::vector<uint64_t>{5, 32}));
  EXPECT_EQ(q.row(4).data(), q.data.data() + 4 * 34);
  EXPECT_EQ((q.data.data() - file.tensors()[0].data.data()), 64);
  EXPECT_EQ(q.data.data() + q.data.size() <= reinterpret_cast<const std::byte*>(bytes.data() + bytes.size()),
            true);
}

TEST(Gguf, RefusesOtherFiles) {
  expect_contains(refusal(""), "truncated: the magic number needs 4 bytes at offset 0");
  expect_contains(refusal("GG"), "truncated");
  expect_contains(refusal("PK\x03\x04rest"), "not a GGUF file: it starts with \"PK\\x03\\x04\"");
  GgufBuilder builder;
  builder.version = 1;
  expect_contains(refusal(builder.build(), ErrorCode::kUnsupported), "GGUF version 1 at offset 4");
  builder.version = 4;
  expect_contains(refusal(builder.build(), ErrorCode::kUnsupported), "GGUF version 4");
  builder.version = 0x03000000;
  expect_contains(refusal(builder.build(), ErrorCode::kUnsupported), "big-endian");
}

TEST(Gguf, RefusesCountsBeforeTakingMemory) {
  GgufBuilder builder;
  builder.n_tensors = uint64_t{1} << 60;
  expect_contains(refusal(builder.build()), "1152921504606846976 tensors at offset 8");
  builder.n_tensors = 1;
  builder.cut = 8;  // the padding
  expect_contains(refusal(builder.build()), "truncated: a tensor's name");
  builder = GgufBuilder();
  builder.n_keys = UINT64_MAX;
  expect_contains(refusal(builder.build()), "metadata keys at offset 16");
  builder.n_keys = 5;
  builder.cut = 8;
  expect_contains(refusal(builder.build()), "truncated: a metadata key");
  // An array of 2^62 numbers of four bytes: the size in bytes wraps to zero.
  for (const uint64_t count : {uint64_t{1} << 62, uint64_t{1} << 24, UINT64_MAX}) {
    expect_contains(refusal(GgufBuilder().array("a", 4, count).build()), "truncated: metadata key \"a\" has");
  }
  expect_contains(refusal(GgufBuilder().array("a", 4, 10, "12345678").build()),
                  "truncated: an array needs 40 bytes");
  expect_contains(refusal(GgufBuilder().array("a", 8, 2, std::string(16, '\xff')).build()), "truncated");
  expect_contains(
      refusal(GgufBuilder().array("a", 0, (1 << 24) + 1, std::string((1 << 24) + 1, 'x')).build()),
      "more than 16777216 array elements");
}

TEST(Gguf, RefusesBrokenMetadata) {
  expect_contains(refusal(GgufBuilder().u32("k", 1).u32("k", 2).build()),
                  "metadata key \"k\" at offset 41 appears twice");
  expect_contains(refusal(GgufBuilder().number("k", 13, uint8_t{0}).build()),
                  "metadata key \"k\": unknown type 13");
  expect_contains(refusal(GgufBuilder().number("k", 7, uint8_t{2}).build()),
                  "2 at offset 37 is not a boolean");
  expect_contains(refusal(GgufBuilder().array("k", 9, 0).build(), ErrorCode::kUnsupported),
                  "metadata key \"k\": an array of arrays");
  expect_contains(refusal(GgufBuilder().array("k", 77, 0).build()), "array of unknown type 77");
  expect_contains(refusal(GgufBuilder().u32("", 1).build()), "metadata key 0 of 0 bytes at offset 24");
  // A name that would break the line or the terminal.
  expect_contains(refusal(GgufBuilder().number("a\n\x1b[31m", 13, uint8_t{0}).build()),
                  "\"a\\x0a\\x1b[31m\"");
  std::string bytes = GgufBuilder().text("k", "v").build();
  bytes[24 + 8 + 1 + 4 + 7] = '\x7f';  // the string's length becomes 2^62
  expect_contains(refusal(bytes), "truncated: metadata key \"k\" needs");
}

TEST(Gguf, RefusesBadAlignment) {
  for (const uint32_t alignment : {0U, 1U, 4U, 24U, 1U << 21}) {
    expect_contains(refusal(GgufBuilder().u32("general.alignment", alignment).build()),
                    "general.alignment must be a power of two");
  }
  expect_contains(refusal(GgufBuilder().f32("general.alignment", 32).build()), "general.alignment must be");
}

GgufBuilder one_tensor(uint32_t type, std::vector<uint64_t> dims, uint64_t n_bytes = 64) {
  GgufBuilder builder;
  builder.tensors.push_back({"blk.0.x", type, std::move(dims), n_bytes, {}});
  return builder;
}

TEST(Gguf, RefusesBrokenTensors) {
  expect_contains(refusal(one_tensor(0, {}).build()), "tensor \"blk.0.x\" at offset 24: 0 dimensions");
  expect_contains(refusal(one_tensor(0, {1, 1, 1, 1, 1}).build()), "5 dimensions, must be 1 to 4");
  expect_contains(refusal(one_tensor(0, {4, 0}).build()), "dimensions are zero or their product overflows");
  // 2^32 * 2^32 wraps to zero, 3 * 2^63 + ... to something small.
  expect_contains(refusal(one_tensor(0, {uint64_t{1} << 32, uint64_t{1} << 32}).build()),
                  "product overflows");
  expect_contains(refusal(one_tensor(0, {6148914691236517206, 3}).build()), "product overflows");
  expect_contains(refusal(one_tensor(0, {uint64_t{1} << 62}).build()), "its size overflows");
  expect_contains(refusal(one_tensor(2, {33}).build()),
                  "rows of 33 elements are not whole Q4_0 blocks of 32");
  expect_contains(refusal(one_tensor(12, {128, 2}).build()),
                  "rows of 128 elements are not whole Q4_K blocks of 256");
  expect_contains(refusal(one_tensor(28, {2}).build(), ErrorCode::kUnsupported),
                  "tensor \"blk.0.x\" at offset 24: type F64 can't be read");
  expect_contains(refusal(one_tensor(10, {256}).build(), ErrorCode::kUnsupported), "type Q2_K");
  expect_contains(refusal(one_tensor(4, {256}).build(), ErrorCode::kUnsupported), "type number 4 ");
  expect_contains(refusal(one_tensor(0xFFFFFFFF, {2}).build(), ErrorCode::kUnsupported),
                  "type number 4294967295");
  GgufBuilder builder;
  expect_contains(refusal(builder.tensor(std::string(65, 'n'), {1}).build()), "tensor name of 65 bytes");
  builder = GgufBuilder();
  expect_contains(refusal(builder.tensor("a", {1}).tensor("a", {1}).build()),
                  "\"a\" at offset 57 appears twice");
}

TEST(Gguf, RefusesMisplacedTensors) {
  GgufBuilder builder = one_tensor(0, {16});
  builder.cut = 1;
  expect_contains(refusal(builder.build()),
                  "(64 bytes at offset 0 of the tensor data, which starts at 64) lies beyond");
  builder = one_tensor(0, {17}, 64);
  expect_contains(refusal(builder.build()), "lies beyond the end of the file");
  builder = one_tensor(0, {16});
  for (const uint64_t offset : {uint64_t{96}, UINT64_MAX - 31}) {
    builder.tensors[0].offset = offset;
    expect_contains(refusal(builder.build()), "lies beyond the end of the file");
  }
  builder.tensors[0].offset = 4;
  expect_contains(refusal(builder.build()), "its data offset 4 is not a multiple of the alignment 32");
  builder = GgufBuilder();
  builder.tensor("a", {16}).tensor("b", {16});
  builder.tensors[1].offset = 32;
  expect_contains(refusal(builder.build()), "tensors \"a\" and \"b\" overlap at offset 32");
  builder.tensors[1].offset = 0;
  expect_contains(refusal(builder.build()), "overlap at offset 0");
}

// Cut anywhere, a file is refused or (behind the last tensor) still whole; never a signal.
TEST(Gguf, TruncatedAnywhere) {
  GgufBuilder builder;
  builder.text("text", "some text").texts("texts", {"a", "b"}).f32("x", 1).tensor("t", {8, 2});
  const std::string bytes = builder.build();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string part = bytes.substr(0, n);
    refusal(part);
  }
}

}  // namespace
}  // namespace qwick
