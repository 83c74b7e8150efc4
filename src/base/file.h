// Files of a model, wherever they are: a directory, or tables compiled into the program.
// MappedFile owns one read-only mapping; FileSet finds files by name; NewFile replaces a file whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

// Read-only bytes of a file, mapped; pages are read when touched. Movable, not copyable.
class MappedFile {
 public:
  // Throws Error kNotFound, kIo. An empty file gives empty bytes.
  static MappedFile open(const std::filesystem::path& path);
  // Bytes that live as long as the program; not unmapped.
  static MappedFile from_memory(std::string name, std::span<const std::byte> bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& name() const { return name_; }  // for messages
  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  bool is_mapped() const { return mapped_; }
  int64_t modified_ns() const { return modified_ns_; }  // when it was last written; 0 for bytes in memory
  // Takes what was read out of this process's memory; touched again, it is read again.
  void drop_pages() const noexcept;

 private:
  MappedFile(std::string name, std::span<const std::byte> bytes, bool mapped, int64_t modified_ns = 0);

  std::string name_;
  std::span<const std::byte> bytes_;
  bool mapped_;
  int64_t modified_ns_;
};

// The files that make up a model, by name. Names are plain file names: one with a path separator
// or ".." is refused, so an index file can't lead outside.
class FileSet {
 public:
  static FileSet directory(std::filesystem::path path);
  static FileSet embedded(std::string name,
                          std::map<std::string, std::span<const std::byte>, std::less<>> files);

  const std::string& name() const { return name_; }  // directory path, or the name given
  bool contains(std::string_view file) const;
  // Throws Error kNotFound naming the set and the file.
  MappedFile open(std::string_view file) const;
  // Nothing when there is no such file; throws Error kIo when it is there and unreadable.
  std::optional<MappedFile> find(std::string_view file) const;
  std::vector<std::string> list() const;  // sorted

 private:
  explicit FileSet(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::filesystem::path directory_;  // empty: embedded
  std::map<std::string, std::span<const std::byte>, std::less<>> files_;
};

// A file that appears under its name complete or not at all: written beside it under a name of its
// own, which goes away again unless commit() is reached. What a killed process leaves there is
// removed a day later, by the next NewFile in that directory. Throws Error kIo.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  void write(std::span<const std::byte> bytes);
  void commit();  // on the disk, and under its name

 private:
  [[noreturn]] void fail_with_errno() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
};

}  // namespace qwick
