#include "hub/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace fs = std::filesystem;

namespace qwick {
namespace {

// The file of blocks: this header, then a byte for each block.
struct Header {
  char magic[8] = {'q', 'w', 'i', 'c', 'k', 'p', 't', '1'};
  uint64_t size = 0;
  uint64_t block_bytes = PartialFile::kBlockBytes;

  bool operator==(const Header&) const = default;
};

fs::path data_path(const fs::path& blob) {
  return blob.string() + ".qwick-part";
}

fs::path blocks_path(const fs::path& blob) {
  return blob.string() + ".qwick-blocks";
}

bool write_whole(int fd, const void* data, size_t n_bytes, uint64_t offset) {
  const auto* from = static_cast<const char*>(data);
  while (n_bytes > 0) {
    const ssize_t n = ::pwrite(fd, from, n_bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    from += n;
    offset += static_cast<uint64_t>(n);
    n_bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

PartialFile::PartialFile(fs::path blob, uint64_t size)
    : blob_(std::move(blob)),
      data_path_(data_path(blob_)),
      blocks_path_(blocks_path(blob_)),
      size_(size),
      is_complete_((size + kBlockBytes - 1) / kBlockBytes) {
  std::error_code error;
  fs::create_directories(blob_.parent_path(), error);
  data_fd_ = ::open(data_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (data_fd_ < 0) fail_to_write();
  open_blocks();
}

PartialFile::~PartialFile() {
  if (data_fd_ >= 0) ::close(data_fd_);
  if (blocks_fd_ >= 0) ::close(blocks_fd_);
}

void PartialFile::fail_to_write() const {
  if (errno == ENOSPC || errno == EDQUOT) {
    fail(ErrorCode::kIo,
         "{}: the disk is full; make room and run again, what was fetched stays (or set HF_HUB_CACHE to "
         "another place)",
         blob_.parent_path().string());
  }
  fail(ErrorCode::kIo, "{}: can't write it: {}", data_path_.string(), std::generic_category().message(errno));
}

void PartialFile::open_blocks() {
  blocks_fd_ = ::open(blocks_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (blocks_fd_ < 0) fail_to_write();
  Header wanted;
  wanted.size = size_;
  Header found{};
  struct stat data{};
  const bool is_ours = ::pread(blocks_fd_, &found, sizeof found, 0) == sizeof found && found == wanted &&
                       ::fstat(data_fd_, &data) == 0 && static_cast<uint64_t>(data.st_size) == size_;
  const auto n_flags = static_cast<ssize_t>(is_complete_.size());
  if (!is_ours || ::pread(blocks_fd_, is_complete_.data(), is_complete_.size(), sizeof found) != n_flags) {
    start_anew();
  }
}

void PartialFile::start_anew() {
  std::fill(is_complete_.begin(), is_complete_.end(), uint8_t{0});
  // The header is written last: until then whatever is there counts as nothing.
  if (::ftruncate(blocks_fd_, 0) != 0 || ::ftruncate(data_fd_, 0) != 0) fail_to_write();
  const auto size = static_cast<off_t>(size_);
  // Some file systems can't take space beforehand; they say so later, when it is used up.
  if (size_ > 0 && ::fallocate(data_fd_, 0, 0, size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    fail_to_write();
  if (::ftruncate(data_fd_, size) != 0) fail_to_write();
  Header header;
  header.size = size_;
  if (!write_whole(blocks_fd_, is_complete_.data(), is_complete_.size(), sizeof header) ||
      !write_whole(blocks_fd_, &header, sizeof header, 0)) {
    fail_to_write();
  }
}

uint64_t PartialFile::block_bytes(uint64_t block) const {
  return std::min(kBlockBytes, size_ - block * kBlockBytes);
}

void PartialFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (!write_whole(data_fd_, bytes.data(), bytes.size(), offset)) fail_to_write();
}

void PartialFile::complete(uint64_t block) {
  if (::fdatasync(data_fd_) != 0) fail_to_write();
  is_complete_[block] = 1;
  if (!write_whole(blocks_fd_, &is_complete_[block], 1, sizeof(Header) + block)) fail_to_write();
}

void PartialFile::become_blob() {
  if (::fsync(data_fd_) != 0 || ::rename(data_path_.c_str(), blob_.c_str()) != 0) fail_to_write();
  ::unlink(blocks_path_.c_str());
}

void PartialFile::discard() {
  remove_leftovers(blob_);
}

void PartialFile::remove_leftovers(const fs::path& blob) {
  ::unlink(blocks_path(blob).c_str());
  ::unlink(data_path(blob).c_str());
}

uint64_t PartialFile::missing_bytes(const fs::path& blob, uint64_t size) {
  struct stat data{};
  if (::stat(data_path(blob).c_str(), &data) != 0) return size;
  const uint64_t n_taken = static_cast<uint64_t>(data.st_blocks) * 512;  // the unit of st_blocks, always
  return size - std::min(size, n_taken);
}

}  // namespace qwick
