// A file that is being fetched in blocks, any of them first, and survives the end of the process at any
// moment: the bytes in HASH.qwick-part, which blocks are complete in HASH.qwick-blocks. Both lie beside
// the blob that they become. Owned by hub/download while it holds the blob's lock; throws Error kIo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace qwick {

class PartialFile {
 public:
  static constexpr uint64_t kBlockBytes = uint64_t{4} << 20;

  // Goes on with what an earlier process left of this file, or starts anew. The disk space is taken
  // at once.
  PartialFile(std::filesystem::path blob, uint64_t size);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  uint64_t size() const { return size_; }
  uint64_t n_blocks() const { return is_complete_.size(); }
  uint64_t block_bytes(uint64_t block) const;  // the last one is shorter
  bool is_complete(uint64_t block) const { return is_complete_[block] != 0; }

  // Any thread, each its own bytes.
  void write(uint64_t offset, std::span<const std::byte> bytes);
  // The block's bytes have been written: they are on the disk before anything says so.
  void complete(uint64_t block);

  const std::filesystem::path& path() const { return data_path_; }
  void become_blob();  // whole and right: on the disk and under its name
  void discard();

  // What a process that was killed when all was done may have left beside a blob.
  static void remove_leftovers(const std::filesystem::path& blob);
  // Bytes that `size` bytes of this blob still need on the disk.
  static uint64_t missing_bytes(const std::filesystem::path& blob, uint64_t size);

 private:
  [[noreturn]] void fail_to_write() const;
  void open_blocks();
  void start_anew();

  std::filesystem::path blob_;
  std::filesystem::path data_path_;
  std::filesystem::path blocks_path_;
  uint64_t size_;
  std::vector<uint8_t> is_complete_;  // [n_blocks], 0 or 1, as in the file
  int data_fd_ = -1;
  int blocks_fd_ = -1;
};

}  // namespace qwick
