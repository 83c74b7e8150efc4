// Tests of base/: numbers, files, JSON.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/numeric.h"
#include "base/random.h"

namespace qwick {
namespace {

float f16_by_definition(uint16_t x) {
  const int exponent = (x >> 10) & 31;
  const int mantissa = x & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((x & 0x8000) ? -magnitude : magnitude);
}

TEST(Numeric, EveryF16) {
  for (uint32_t x = 0; x < 65536; ++x) {
    const float value = f16_to_f32(static_cast<uint16_t>(x));
    if ((x & 0x7C00) != 0x7C00) {
      ASSERT_EQ(value, f16_by_definition(static_cast<uint16_t>(x))) << x;
      ASSERT_EQ(std::signbit(value), (x & 0x8000) != 0) << x;
    } else if (x & 1023) {
      ASSERT_TRUE(std::isnan(value)) << x;
    } else {
      ASSERT_TRUE(std::isinf(value)) << x;
    }
  }
}

TEST(Numeric, F16RoundTrip) {
  for (uint32_t x = 0; x < 65536; ++x) {
    const float value = f16_to_f32(static_cast<uint16_t>(x));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_f16(value), x);
    }
  }
  EXPECT_EQ(f32_to_f16(1.0F + 0x1p-11F), 0x3C00);  // a tie, to even
  EXPECT_EQ(f32_to_f16(1.0F + 0x3p-11F), 0x3C02);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0);  // a tie between 0 and the smallest
  EXPECT_EQ(f32_to_f16(0x3p-25F), 2);
  EXPECT_EQ(f32_to_f16(65519.0F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e9F), 0xFC00);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Numeric, Bf16RoundsToNearestEven) {
  EXPECT_EQ(f32_to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);  // a tie, to even
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  for (uint32_t x = 0; x < 65536; ++x) {
    const float value = bf16_to_f32(static_cast<uint16_t>(x));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_bf16(value), x);
    }
  }
}

TEST(Random, FirstNumbersOfSplitmix64) {
  EXPECT_EQ(mix_bits(kGoldenGamma), 0xE220A8397B1DCDAF);  // seeded with 0
  EXPECT_EQ(mix_bits(2 * kGoldenGamma), 0x6E789E6AA1B965F4);
}

TEST(Numeric, CheckedArithmetic) {
  EXPECT_EQ(checked_add(1, 2), 3U);
  EXPECT_FALSE(checked_add(UINT64_MAX, 1));
  EXPECT_EQ(checked_mul(1ULL << 32, 1ULL << 31), 1ULL << 63);
  EXPECT_FALSE(checked_mul(1ULL << 32, 1ULL << 32));
}

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("qwick_base_" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  std::filesystem::path directory_;
};

TEST_F(FileTest, MapsBytes) {
  write("a", "hello");
  write("empty", "");
  EXPECT_EQ(MappedFile::open(directory_ / "a").text(), "hello");
  EXPECT_EQ(MappedFile::open(directory_ / "empty").text(), "");
  MappedFile moved = MappedFile::open(directory_ / "a");
  MappedFile target = std::move(moved);
  EXPECT_EQ(target.text(), "hello");
}

TEST_F(FileTest, ErrorsNameTheFile) {
  try {
    MappedFile::open(directory_ / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("missing: No such file"), std::string::npos);
  }
  EXPECT_THROW(MappedFile::open(directory_), Error);
  EXPECT_THROW(FileSet::directory(directory_ / "missing"), Error);
}

TEST_F(FileTest, SetsStayInside) {
  write("a", "hello");
  const FileSet set = FileSet::directory(directory_);
  EXPECT_EQ(set.open("a").text(), "hello");
  EXPECT_FALSE(set.find("b"));
  EXPECT_THROW(set.open("../" + directory_.filename().string() + "/a"), Error);
  EXPECT_THROW(set.open(".."), Error);
  EXPECT_EQ(set.list(), std::vector<std::string>{"a"});
}

TEST_F(FileTest, NewFilesAppearWhole) {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const auto path = directory_ / "a";
  write("a", "old");
  {
    NewFile file(path);
    file.write(bytes("ne"));
    EXPECT_EQ(MappedFile::open(path).text(), "old");
    NewFile other(path);  // two at once: each is whole, the later one stays
    file.write(bytes("w"));
    file.commit();
    EXPECT_EQ(MappedFile::open(path).text(), "new");
  }
  EXPECT_EQ(FileSet::directory(directory_).list(), std::vector<std::string>{"a"});
  EXPECT_THROW(NewFile(directory_ / "missing" / "a"), Error);
}

TEST_F(FileTest, LeftoversGoAfterADay) {
  const auto age = [&](const char* name, int hours) {
    write(name, "x");
    std::filesystem::last_write_time(
        directory_ / name, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age("a.0123.qwick-new", 25);
  age("b.4567.qwick-new", 23);
  age("c.qwick", 100);
  NewFile(directory_ / "d").commit();
  EXPECT_EQ(FileSet::directory(directory_).list(),
            (std::vector<std::string>{"b.4567.qwick-new", "c.qwick", "d"}));
}

TEST_F(FileTest, DroppedPagesAreReadAgain) {
  write("a", std::string(10000, 'x'));
  const MappedFile file = MappedFile::open(directory_ / "a");
  EXPECT_GT(file.modified_ns(), 0);
  file.drop_pages();
  EXPECT_EQ(file.text(), std::string(10000, 'x'));
  static constexpr std::string_view kText = "in memory";
  const MappedFile memory = MappedFile::from_memory("m", std::as_bytes(std::span(kText)));
  memory.drop_pages();
  EXPECT_EQ(memory.text(), kText);
}

TEST(FileSet, Embedded) {
  static constexpr std::string_view kText = "{}";
  const FileSet set = FileSet::embedded("demo", {{"config.json", std::as_bytes(std::span(kText))}});
  EXPECT_EQ(set.open("config.json").text(), "{}");
  EXPECT_EQ(set.open("config.json").name(), "demo/config.json");
  EXPECT_THROW(set.open("x"), Error);
}

std::string json_error(std::string_view text) {
  try {
    parse_json(text, "f.json");
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Json, KeepsOrderAndReportsPlaces) {
  EXPECT_EQ(parse_json(R"({"b":1,"a":2})", "f").dump(), R"({"b":1,"a":2})");
  EXPECT_EQ(json_error("{\"a\":}").substr(0, 33), "f.json: not valid JSON at byte 6:");
  EXPECT_EQ(json_error(std::string(100, '[')), "f.json: JSON nested deeper than 64 levels");
  std::string many = "{";
  for (int i = 0; i < 3000; ++i) many += "\"" + std::to_string(i) + "\":0,";
  EXPECT_EQ(json_error(many + "\"x\":0}"), "f.json: a JSON object with more than 2048 members");
  EXPECT_EQ(json_error("\"\xff\"").find('\n'), std::string::npos);
  EXPECT_EQ(json_error(std::string_view("{}\0{}", 5)), "f.json: not valid JSON at byte 3: it is a NUL");
  EXPECT_NE(json_error("1e999").find("f.json: not valid JSON"), std::string::npos);
}

}  // namespace
}  // namespace qwick
