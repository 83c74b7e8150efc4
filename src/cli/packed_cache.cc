#include "cli/packed_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <system_error>

namespace fs = std::filesystem;

namespace qwick::cli {
namespace {

// Where packed weights are kept; nothing where there is no place for them.
fs::path cache_directory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const auto own = variable("QWICK_CACHE"); !own.empty()) return own;
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "qwick" / "packed";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "qwick" / "packed";
  return {};
}

// What the names of a model's files end in.
std::string suffix(uint64_t path_hash) {
  return fmt::format("-{:016x}.qwick", path_hash);
}

}  // namespace

std::optional<fs::path> packed_cache_file(const ModelSource& source, QuantFormat format) {
  const fs::path directory = cache_directory();
  if (directory.empty()) return std::nullopt;
  // Plain characters alone, and of bounded length.
  std::string name = source.name.substr(0, 64);
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !is_plain(static_cast<unsigned char>(c)); }, '_');
  return directory / fmt::format("{}-{}{}", name, quant_format_name(format), suffix(source.path_hash));
}

std::vector<fs::path> packed_files_of(const fs::path& path) {
  std::vector<fs::path> files;
  const fs::path directory = cache_directory();
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  if (error || directory.empty()) return files;
  const std::string wanted = suffix(source_path_hash(canonical.string()));
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().native().ends_with(wanted)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace qwick::cli
