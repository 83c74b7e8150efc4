// A lock between processes: flock() on a file of its own, as huggingface_hub (filelock) takes it. The
// kernel drops it when the process ends, however it ends. Held by hub/download, looked at by `qwick rm`.
#pragma once

#include <filesystem>
#include <optional>

namespace qwick {

class FileLock {
 public:
  // Nothing while somebody else holds it. Makes the file and its directories; throws Error kIo.
  static std::optional<FileLock> try_take(const std::filesystem::path& file);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace qwick
