// Files of a model, wherever they are: a directory, or tables compiled into the program.
// MappedFile owns one read-only mapping; FileSet finds files by name.
#pragma once

#include <cstddef>
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

 private:
  MappedFile(std::string name, std::span<const std::byte> bytes, bool mapped);

  std::string name_;
  std::span<const std::byte> bytes_;
  bool mapped_;
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

}  // namespace qwick
