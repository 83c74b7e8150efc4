// What the hub says a file's bytes hash to, and hashing them: SHA-256 for large files (git LFS) and for
// all of ModelScope's, git's SHA-1 of a blob for the small files of Hugging Face. A blob in the cache is
// named by it. Called by hub/download and by `qwick verify`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace qwick {

struct BlobHash {
  std::string hex;  // lower case; 64 digits: SHA-256, 40: git's SHA-1

  bool operator==(const BlobHash&) const = default;
};

// Nothing when the text is neither 40 nor 64 lower-case hexadecimal digits.
std::optional<BlobHash> parse_blob_hash(std::string_view hex);

// True when the file's bytes have this hash. `on_bytes` hears how many were hashed since the last call.
// Throws Error kIo, kNotFound.
bool has_hash(const std::filesystem::path& file, const BlobHash& hash,
              const std::function<void(uint64_t)>& on_bytes = {});

// 40 hexadecimal digits.
std::string sha1_hex(std::string_view text);

}  // namespace qwick
