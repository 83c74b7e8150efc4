#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace qwick {
namespace {

// Closes a descriptor at the end of a scope.
struct Descriptor {
  int fd;
  explicit Descriptor(int descriptor) : fd(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string errno_text() {
  return std::generic_category().message(errno);
}

constexpr std::string_view kTemporarySuffix = ".qwick-new";

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

void remove_leftovers(const std::filesystem::path& directory) {
  const auto yesterday = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // another process may do the same
    if (entry->path().native().ends_with(kTemporarySuffix) && entry->is_regular_file(gone) &&
        entry->last_write_time(gone) < yesterday && !gone) {
      std::filesystem::remove(entry->path(), gone);
    }
  }
}

void check_plain_name(std::string_view set, std::string_view file) {
  if (file.empty() || file == "." || file == ".." || file.find('/') != std::string_view::npos ||
      file.find('\0') != std::string_view::npos) {
    invalid_file("{}: \"{}\" is not a plain file name", set, file);
  }
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) {
    fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: {}", name, errno_text());
  }
  struct stat status{};
  if (::fstat(file.fd, &status) != 0) fail(ErrorCode::kIo, "{}: {}", name, errno_text());
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::kIo, "{}: not a regular file", name);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return MappedFile(name, {}, false);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) fail(ErrorCode::kIo, "{}: can't map it: {}", name, errno_text());
  const int64_t modified_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return MappedFile(name, {static_cast<const std::byte*>(address), size}, true, modified_ns);
}

MappedFile MappedFile::from_memory(std::string name, std::span<const std::byte> bytes) {
  return MappedFile(std::move(name), bytes, false);
}

MappedFile::MappedFile(std::string name, std::span<const std::byte> bytes, bool mapped, int64_t modified_ns)
    : name_(std::move(name)), bytes_(bytes), mapped_(mapped), modified_ns_(modified_ns) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)),
      bytes_(std::exchange(other.bytes_, {})),
      mapped_(std::exchange(other.mapped_, false)),
      modified_ns_(other.modified_ns_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(modified_ns_, other.modified_ns_);
  return *this;
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop_pages() const noexcept {
  // Only ever on pages of a file: memory of another kind would lose what it holds.
  if (mapped_) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

FileSet FileSet::directory(std::filesystem::path path) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(path, error);
  if (error) fail(ErrorCode::kNotFound, "{}: {}", path.string(), error.message());
  if (!is_directory) fail(ErrorCode::kNotFound, "{}: not a directory", path.string());
  FileSet set(path.string());
  set.directory_ = std::move(path);
  return set;
}

FileSet FileSet::embedded(std::string name,
                          std::map<std::string, std::span<const std::byte>, std::less<>> files) {
  FileSet set(std::move(name));
  set.files_ = std::move(files);
  return set;
}

bool FileSet::contains(std::string_view file) const {
  if (directory_.empty()) return files_.contains(file);
  std::error_code error;
  return std::filesystem::exists(directory_ / file, error);
}

MappedFile FileSet::open(std::string_view file) const {
  check_plain_name(name_, file);
  if (!directory_.empty()) return MappedFile::open(directory_ / file);
  const auto found = files_.find(file);
  if (found == files_.end()) fail(ErrorCode::kNotFound, "{}: no file {}", name_, file);
  return MappedFile::from_memory(name_ + "/" + found->first, found->second);
}

std::optional<MappedFile> FileSet::find(std::string_view file) const {
  if (!contains(file)) return std::nullopt;
  return open(file);
}

std::vector<std::string> FileSet::list() const {
  std::vector<std::string> names;
  std::transform(files_.begin(), files_.end(), std::back_inserter(names),
                 [](const auto& entry) { return entry.first; });
  if (!directory_.empty()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
      names.push_back(entry.path().filename().string());
    }
    if (error) fail(ErrorCode::kIo, "{}: {}", name_, error.message());
  }
  std::sort(names.begin(), names.end());
  return names;
}

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)) {
  remove_leftovers(directory_of(path_));
  std::random_device random;
  temporary_ = path_;
  temporary_ += fmt::format(".{:08x}{:08x}{}", random(), random(), kTemporarySuffix);
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) fail_with_errno();
}

NewFile::~NewFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void NewFile::fail_with_errno() const {
  fail(ErrorCode::kIo, "{}: can't write it: {}", path_.string(), errno_text());
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) fail_with_errno();
    if (n > 0) bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void NewFile::commit() {
  if (::fsync(fd_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno();
  ::close(std::exchange(fd_, -1));
  // The new name outlives a crash only when the directory has been written as well. Some file systems
  // can't do that; the file is complete either way.
  const Descriptor directory(::open(directory_of(path_).c_str(), O_RDONLY | O_CLOEXEC));
  if (directory.fd >= 0) ::fsync(directory.fd);
}

}  // namespace qwick
