// Blocks that are complete stay so; anything doubtful counts as nothing. And the hashes that decide.
#include "hub/partial_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "hub/backoff.h"
#include "hub/blob_hash.h"
#include "hub/progress.h"
#include "hub/test_directory.h"

namespace qwick {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::TestDirectory;
using testing::write_file;

constexpr uint64_t kBlock = PartialFile::kBlockBytes;

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(PartialFile, GoesOnWhereItStopped) {
  const TestDirectory directory;
  const fs::path blob = directory.path() / "blobs" / "x";
  const std::string block(kBlock, 'b');
  EXPECT_EQ(PartialFile::missing_bytes(blob, 2 * kBlock + 3), 2 * kBlock + 3);
  {
    PartialFile part(blob, 2 * kBlock + 3);
    ASSERT_EQ(part.n_blocks(), 3U);
    EXPECT_EQ(part.block_bytes(2), 3U);
    part.write(kBlock, bytes(block));
    part.complete(1);
    part.write(0, bytes("lost"));
  }
  EXPECT_LT(PartialFile::missing_bytes(blob, 2 * kBlock + 3), 2 * kBlock + 3);
  {
    PartialFile part(blob, 2 * kBlock + 3);
    EXPECT_FALSE(part.is_complete(0));
    EXPECT_TRUE(part.is_complete(1));
    part.write(0, bytes(block));
    part.complete(0);
    part.write(2 * kBlock, bytes("end"));
    part.complete(2);
    EXPECT_FALSE(fs::exists(blob));
    part.become_blob();
  }
  EXPECT_EQ(read_file(blob), block + block + "end");
  EXPECT_EQ(std::distance(fs::directory_iterator(blob.parent_path()), fs::directory_iterator()), 1);
}

TEST(PartialFile, TrustsNothingDoubtful) {
  const TestDirectory directory;
  const fs::path blob = directory.path() / "x";
  const fs::path blocks = blob.string() + ".qwick-blocks";
  const auto leave_one_complete = [&] {
    PartialFile part(blob, 2 * kBlock);
    part.complete(0);
  };
  const auto is_kept = [&](uint64_t size) { return PartialFile(blob, size).is_complete(0); };
  leave_one_complete();
  EXPECT_TRUE(is_kept(2 * kBlock));
  EXPECT_FALSE(is_kept(2 * kBlock + 1));  // another size
  leave_one_complete();
  fs::resize_file(blob.string() + ".qwick-part", kBlock);
  EXPECT_FALSE(is_kept(2 * kBlock));
  leave_one_complete();
  fs::resize_file(blocks, fs::file_size(blocks) - 1);
  EXPECT_FALSE(is_kept(2 * kBlock));
  leave_one_complete();
  write_file(blocks, std::string(100, '\1'));
  EXPECT_FALSE(is_kept(2 * kBlock));
  leave_one_complete();
  PartialFile(blob, 2 * kBlock).discard();
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(PartialFile, FollowsNoLinks) {
  const TestDirectory directory;
  const fs::path blob = directory.path() / "blobs" / "x";
  write_file(directory.path() / "precious", "precious");
  fs::create_directories(blob.parent_path());
  fs::create_symlink("../precious", blob.string() + ".qwick-part");
  EXPECT_THROW(PartialFile(blob, 10), Error);
  EXPECT_EQ(read_file(directory.path() / "precious"), "precious");
}

TEST(BlobHash, OfBothKinds) {
  const TestDirectory directory;
  const fs::path file = directory.path() / "x";
  write_file(file, "hello\n");  // `sha256sum`, `git hash-object`
  const auto sha256 = parse_blob_hash("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
  const auto git = parse_blob_hash("ce013625030ba8dba906f756967f9e9ca394464a");
  uint64_t n_bytes = 0;
  EXPECT_TRUE(has_hash(file, sha256.value(), [&](uint64_t n) { n_bytes += n; }));
  EXPECT_EQ(n_bytes, 6U);
  EXPECT_TRUE(has_hash(file, git.value()));
  write_file(file, "hello");
  EXPECT_FALSE(has_hash(file, sha256.value()));
  EXPECT_FALSE(has_hash(file, git.value()));
  EXPECT_THROW(has_hash(directory.path() / "y", git.value()), Error);
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  for (const char* text :
       {"", "ab", "CE013625030BA8DBA906F756967F9E9CA394464A", "../3625030ba8dba906f756967f9e9ca394464a"}) {
    EXPECT_FALSE(parse_blob_hash(text)) << text;
  }
}

TEST(Backoff, WaitsLongerEachTimeAndAsAsked) {
  using namespace std::chrono_literals;
  Backoff backoff(4);
  const auto first = backoff.next({}).value();
  const auto second = backoff.next({}).value();
  EXPECT_LE(200ms, first);
  EXPECT_LE(first, 400ms);
  EXPECT_LE(400ms, second);
  EXPECT_EQ(backoff.next(7s), 7s);
  EXPECT_FALSE(backoff.next(7s));  // the fourth failure
  backoff.reset();
  EXPECT_FALSE(backoff.next(1h));
  EXPECT_TRUE(backoff.next({}));
}

TEST(Progress, WritesBytes) {
  EXPECT_EQ(byte_text(0), "0 bytes");
  EXPECT_EQ(byte_text(999), "999 bytes");
  EXPECT_EQ(byte_text(1500), "1.5 kB");
  EXPECT_EQ(byte_text(999'900), "1.0 MB");
  EXPECT_EQ(byte_text(1'503'300'328), "1.5 GB");
  EXPECT_EQ(byte_text(42'000'000'000'000), "42 TB");
}

}  // namespace
}  // namespace qwick
