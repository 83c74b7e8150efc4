// `qwick verify`: hashes what was fetched of a model again. A file is named by its hash, so that no hub is
// asked; a damaged one is removed, for the next pull to fetch it anew.
#include <fmt/core.h>

#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "cli/input.h"
#include "hub/hub_cache.h"
#include "hub/progress.h"

namespace qwick::cli {

int verify(const Options& options) {
  const HubName name = required_hub_name(options);
  const HubCache cache(hub_settings(options).cache);
  uint64_t n_bytes = 0;
  int n_files = 0;
  int n_damaged = 0;
  for (const CachedSnapshot& snapshot : cache.snapshots(name)) {
    for (const CachedFile& file : snapshot.files) {
      if (!name.file.empty() && file.name != name.file) continue;
      ++n_files;
      n_bytes += file.size;
      if (!file.hash) {
        fmt::print("{}: not checked, its hash is not known\n", file.name);
      } else if (!file.is_there) {
        ++n_damaged;
        fmt::print("{}: missing\n", file.name);
      } else if (!has_hash(file.path, *file.hash)) {
        ++n_damaged;
        fmt::print("{}: damaged, and removed\n", file.name);
        std::error_code error;
        std::filesystem::remove(cache.blob(snapshot.repo, *file.hash), error);
        if (error) fail(ErrorCode::kIo, "{}: can't remove it: {}", file.path.string(), error.message());
      }
    }
  }
  if (n_files == 0) {
    fail(ErrorCode::kNotFound, "{}: is not in {}; `qwick list` shows what is", name.text(),
         cache.root().string());
  }
  if (n_damaged > 0) {
    std::fflush(stdout);
    fail(ErrorCode::kIo, "{}: {} of {} files are not right; `qwick pull {}` fetches them again", name.text(),
         n_damaged, n_files, name.text());
  }
  fmt::print("{}: {} files, {}, as the hub has them\n", name.text(), n_files, byte_text(n_bytes));
  return 0;
}

}  // namespace qwick::cli
