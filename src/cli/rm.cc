// `qwick rm`: removes a fetched model from the cache, and what was packed of it.
#include <fmt/core.h>

#include <map>
#include <system_error>

#include "base/error.h"
#include "cli/input.h"
#include "cli/packed_cache.h"
#include "hub/hub_cache.h"
#include "hub/progress.h"

namespace fs = std::filesystem;

namespace qwick::cli {
namespace {

// Where the weights of the snapshots are in truth, and what is packed of each.
std::map<fs::path, std::vector<fs::path>> packed_of(const std::vector<CachedSnapshot>& snapshots) {
  std::map<fs::path, std::vector<fs::path>> packed;
  const auto add = [&](const fs::path& path) {
    std::error_code error;
    const fs::path source = fs::canonical(path, error);
    if (!error) packed[source] = packed_files_of(source);
  };
  for (const CachedSnapshot& snapshot : snapshots) {
    add(snapshot.directory);
    for (const CachedFile& file : snapshot.files) {
      if (file.name.ends_with(".gguf")) add(file.path);
    }
  }
  return packed;
}

}  // namespace

int rm(const Options& options) {
  const HubName name = required_hub_name(options);
  const HubCache cache(hub_settings(options).cache);
  const auto packed = packed_of(cache.snapshots(name));
  uint64_t n_bytes = cache.remove(name);
  for (const auto& [source, files] : packed) {
    std::error_code error;
    if (fs::exists(source, error)) continue;  // another snapshot has it too
    for (const fs::path& file : files) {
      const uint64_t size = fs::file_size(file, error);
      if (!error && fs::remove(file, error)) n_bytes += size;
    }
  }
  fmt::print("{}: removed, {} freed\n", name.text(), byte_text(n_bytes));
  return 0;
}

}  // namespace qwick::cli
