#include "hub/blob_hash.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "base/error.h"

namespace qwick {
namespace {

constexpr size_t kSha1Digits = 40;
constexpr size_t kSha256Digits = 64;
constexpr size_t kReadBytes = 1 << 20;

class Hasher {
 public:
  explicit Hasher(const EVP_MD* algorithm) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    QWICK_CHECK(context_ && EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1);
  }

  void add(const void* data, size_t n_bytes) {
    QWICK_CHECK(EVP_DigestUpdate(context_.get(), data, n_bytes) == 1);
  }

  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    QWICK_CHECK(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1);
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

[[noreturn]] void fail_reading(const std::filesystem::path& file) {
  fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: {}", file.string(),
       std::generic_category().message(errno));
}

}  // namespace

std::optional<BlobHash> parse_blob_hash(std::string_view hex) {
  if (hex.size() != kSha1Digits && hex.size() != kSha256Digits) return std::nullopt;
  const bool is_hex = std::all_of(hex.begin(), hex.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!is_hex) return std::nullopt;
  return BlobHash{std::string(hex)};
}

bool has_hash(const std::filesystem::path& file, const BlobHash& hash,
              const std::function<void(uint64_t)>& on_bytes) {
  // Read, not mapped: a file that shrinks meanwhile is then an error and no signal.
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_reading(file);
  const auto close_file = [](const int* opened) { ::close(*opened); };
  const std::unique_ptr<const int, decltype(close_file)> closer(&fd, close_file);
  struct stat status{};
  if (::fstat(fd, &status) != 0) fail_reading(file);

  const bool is_git = hash.hex.size() == kSha1Digits;
  Hasher hasher(is_git ? EVP_sha1() : EVP_sha256());
  if (is_git) {
    const std::string header = fmt::format("blob {}", status.st_size);
    hasher.add(header.c_str(), header.size() + 1);  // its zero byte belongs to it
  }
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_reading(file);
    if (n == 0) break;
    hasher.add(buffer.data(), static_cast<size_t>(n));
    if (on_bytes) on_bytes(static_cast<uint64_t>(n));
  }
  return hasher.hex() == hash.hex;
}

std::string sha1_hex(std::string_view text) {
  Hasher hasher(EVP_sha1());
  hasher.add(text.data(), text.size());
  return hasher.hex();
}

}  // namespace qwick
