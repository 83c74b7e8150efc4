// Packed files: what comes back is what was packed; nothing damaged, stale or foreign is ever used;
// load_or_pack always ends with the right weights.
#include "exec/cpu/packed_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "exec/cpu/cpu_executor.h"
#include "exec/cpu/isa.h"

namespace qwick {
namespace {

class PackedFileTest : public ::testing::Test {
 protected:
  PackedFileTest()
      : model_(Model::open(FileSet::directory(QWICK_SOURCE_DIR "/models/demo"))),
        source_(source_of(model_).value()),
        directory_(std::filesystem::temp_directory_path() / ("qwick_packed_" + std::to_string(::getpid()))),
        path_(directory_ / "demo.qwick") {
    std::filesystem::create_directory(directory_);
    log::set_level(log::Level::kOff);
  }
  ~PackedFileTest() override {
    log::set_level(log::Level::kInfo);
    std::filesystem::remove_all(directory_);
  }

  PackedModel open(QuantFormat format = kQ4) { return open_packed(path_, model_, source_, format, pool_); }
  PackedModel load() { return load_or_pack(path_, model_, source_, kQ4, 2); }
  std::string write(QuantFormat format = kQ4) {
    write_packed(path_, pack_model(model_, format, pool_), model_, source_, format, pool_);
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  // A file whose header says something else, with the right checksum.
  static std::string with_header(std::string bytes, const std::function<void(PackedHeader&)>& change) {
    PackedHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    header.header_checksum = header.compute_checksum();
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }
  // Expects these bytes to be refused, in one line that says this.
  void expect_refusal(const std::string& bytes, const std::string& why) {
    put(bytes);
    try {
      open();
      ADD_FAILURE() << "opened, no " << why;
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
      EXPECT_NE(what.find(why), std::string::npos) << what;
      EXPECT_NE(what.find("demo.qwick: "), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
  static void expect_same(const PackedModel& a, const PackedModel& b) {
    ASSERT_EQ(a.payload.size(), b.payload.size());
    EXPECT_EQ(std::memcmp(a.payload.data(), b.payload.data(), a.payload.size()), 0);
  }
  std::vector<float> logits_of(const PackedModel& weights) const {
    CpuExecutor executor(model_.config(), {}, weights, choose_kernels(), {2, 4, 64, 64, 64});
    const std::vector<int32_t> blocks = {2};
    std::vector<int32_t> ids(20);
    std::iota(ids.begin(), ids.end(), 100);
    const auto logits = executor.step({{{blocks, 0, ids, 20}}});
    return {logits.begin(), logits.end()};
  }

  Model model_;
  ModelSource source_;
  std::filesystem::path directory_, path_;
  ThreadPool pool_{2};
};

TEST_F(PackedFileTest, WhatWasPackedComesBack) {
  for (const QuantFormat format : {kQ8, kQ6, kQ5, kQ4}) {
    const PackedModel packed = pack_model(model_, format, pool_);
    write(format);
    const PackedModel opened = open(format);
    expect_same(packed, opened);
    EXPECT_EQ(logits_of(packed), logits_of(opened));
    // The views end where the payload does, and are as aligned as the kernels want them.
    const PackedLayer& last = opened.layers.back();
    const auto at = [&](const void* p) { return static_cast<const uint8_t*>(p) - opened.payload.data(); };
    EXPECT_EQ(at(opened.embedding.data), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(last.w_down.data) % 64, 0U);
    EXPECT_EQ(at(last.mlp_norm + model_.config().d_model), static_cast<ptrdiff_t>(opened.payload.size()));
  }
}

TEST_F(PackedFileTest, NothingDamagedIsOpened) {
  const std::string good = write();
  const auto flipped = [&](size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    return bytes;
  };
  for (size_t at = 0; at < 8; ++at) expect_refusal(flipped(at), "not a file of packed weights");
  for (size_t at = 8; at < 12; ++at) expect_refusal(flipped(at), "version");
  for (size_t at = 12; at < kPackedHeaderBytes; at += at < 100 ? 1 : 499)
    expect_refusal(flipped(at), "header is damaged");
  for (size_t at = kPackedHeaderBytes; at < good.size(); at += good.size() / 37)
    expect_refusal(flipped(at), "checksum is wrong");
  expect_refusal(flipped(good.size() - 1), "checksum is wrong");
  for (const size_t n : {size_t{0}, size_t{1}, sizeof(PackedHeader), kPackedHeaderBytes - 1})
    expect_refusal(good.substr(0, n), "truncated");
  for (size_t n = kPackedHeaderBytes; n < good.size(); n += good.size() / 23)
    expect_refusal(good.substr(0, n), "truncated");
  expect_refusal(good.substr(0, good.size() - 1), "truncated");
  expect_refusal(good + '\0', "truncated or damaged");
}

TEST_F(PackedFileTest, NothingForeignIsOpened) {
  const std::string good = write();
  const auto changed = [&](const std::function<void(PackedHeader&)>& change) {
    return with_header(good, change);
  };
  expect_refusal(changed([](auto& h) { h.version = kPackedVersion + 1; }),
                 "version 2 of the format, this is 1");
  expect_refusal(changed([](auto& h) { h.format = kQ8; }), "packed as q8, not q4");
  expect_refusal(changed([](auto& h) { h.format = kNumQuantFormats; }), "header is damaged");
  expect_refusal(changed([](auto& h) { h.fingerprint ^= 1; }), "another model, or");
  expect_refusal(changed([](auto& h) { h.layout ^= 1; }), "another layout");
  expect_refusal(changed([](auto& h) { h.n_bytes = UINT64_MAX; }), "truncated or damaged");
  expect_refusal(changed([](auto& h) { h.checksum ^= 1; }), "checksum is wrong");
  // A right header over too few bytes.
  const std::string shorter = good.substr(0, good.size() - 64);
  expect_refusal(with_header(shorter, [](auto& h) { h.n_bytes -= 64; }), "another layout");
}

TEST_F(PackedFileTest, LoadOrPackRepairs) {
  const PackedModel packed = pack_model(model_, kQ4, pool_);
  expect_same(load(), packed);
  const auto first_written = std::filesystem::last_write_time(path_);
  expect_same(load(), packed);
  EXPECT_EQ(std::filesystem::last_write_time(path_), first_written);

  std::string bytes = write();
  bytes[bytes.size() / 2] ^= 1;
  const std::string old = with_header(bytes, [](auto& header) { header.version = 0; });
  for (const std::string& broken : {bytes, bytes.substr(0, 5000), std::string(), old}) {
    put(broken);
    expect_same(load(), packed);
    expect_same(open(), packed);
  }
  ++source_.fingerprint;  // the model changed
  EXPECT_THROW(open(), Error);
  expect_same(load(), packed);
  expect_same(open(), packed);
}

TEST_F(PackedFileTest, SeveralAtOnce) {
  const PackedModel packed = pack_model(model_, kQ4, pool_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        expect_same(load_or_pack(path_, model_, source_, kQ4, 1), packed);
        if (round == 1) std::filesystem::remove(path_);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) EXPECT_EQ(entry.path(), path_);
}

TEST_F(PackedFileTest, WithoutAPlaceForItInMemory) {
  const PackedModel packed = pack_model(model_, kQ4, pool_);
  put("a file, not a directory");
  const auto below = path_ / "x.qwick";
  expect_same(load_or_pack(below, model_, source_, kQ4, 2), packed);

  // A full disk, as a limit on the size of files.
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1 << 16, old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const PackedModel in_memory = load();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  expect_same(in_memory, packed);
  EXPECT_TRUE(std::holds_alternative<AlignedBytes>(in_memory.storage));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

}  // namespace
}  // namespace qwick
