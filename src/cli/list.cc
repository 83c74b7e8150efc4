// `qwick list`: the models in the cache that can be served, whether they are whole and packed, and the
// table of short names.
#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "cli/input.h"
#include "cli/packed_cache.h"
#include "hub/hub_cache.h"
#include "hub/progress.h"

namespace qwick::cli {
namespace {

struct Row {
  std::string name;  // as MODEL takes it
  std::string revision;
  std::string commit;
  std::string format = {};
  size_t n_files = 0;
  uint64_t n_bytes = 0;
  bool is_whole = false;
  bool is_packed = false;
};

// A branch or tag where one names the snapshot, or else the commit.
std::string revision_of(const CachedSnapshot& snapshot) {
  const auto& names = snapshot.revisions;
  if (std::find(names.begin(), names.end(), "main") != names.end() || names.empty())
    return names.empty() ? snapshot.commit : "main";
  return names.front();
}

// Each .gguf file is a model of its own; whatever else makes up one is in the directory.
std::vector<Row> rows_of(const CachedSnapshot& snapshot) {
  const std::string revision = revision_of(snapshot);
  const std::string name = snapshot.repo + (revision == "main" ? "" : "@" + revision);
  std::vector<Row> rows;
  Row directory{name, revision, snapshot.commit};
  for (const CachedFile& file : snapshot.files) {
    if (file.name.ends_with(".gguf")) {
      rows.push_back({name + ":" + file.name, revision, snapshot.commit, "gguf", 1, file.size, file.is_there,
                      !packed_files_of(file.path).empty()});
      continue;
    }
    ++directory.n_files;
    directory.n_bytes += file.size;
    if (file.name.ends_with(".safetensors")) directory.format = "safetensors";
  }
  if (!directory.format.empty()) {
    directory.is_whole = model_in(snapshot.directory, "") == snapshot.directory;
    directory.is_packed = !packed_files_of(snapshot.directory).empty();
    rows.push_back(directory);
  }
  return rows;
}

void print_table(const std::vector<Row>& rows, const std::string& cache) {
  size_t width = 4;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  if (rows.empty()) {
    fmt::print("No models in {} yet; fetch one: qwick pull qwen3-0.6b\n", cache);
  } else {
    fmt::print("{:<{}}  {:<8}  {:<11}  {:>5}  {:>8}  {}\n", "NAME", width, "COMMIT", "FORMAT", "FILES",
               "SIZE", "STATE");
  }
  for (const Row& row : rows) {
    fmt::print("{:<{}}  {:<8}  {:<11}  {:>5}  {:>8}  {}\n", row.name, width, row.commit.substr(0, 8),
               row.format, row.n_files, byte_text(row.n_bytes),
               !row.is_whole   ? "incomplete"
               : row.is_packed ? "packed"
                               : "");
  }
  fmt::print("\nShort names:\n");
  for (const ShortName& entry : short_names()) fmt::print("  {:<20} {}\n", entry.name, entry.full_name);
}

}  // namespace

int list(const Options& options) {
  const HubCache cache(hub_settings(options).cache);
  std::vector<Row> rows;
  for (const CachedSnapshot& snapshot : cache.snapshots()) {
    for (Row& row : rows_of(snapshot)) rows.push_back(std::move(row));
  }
  if (!options.json) {
    print_table(rows, cache.root().string());
    return 0;
  }
  Json models = Json::array();
  for (const Row& row : rows) {
    models.push_back({{"name", row.name},
                      {"revision", row.revision},
                      {"commit", row.commit},
                      {"format", row.format},
                      {"files", row.n_files},
                      {"bytes", row.n_bytes},
                      {"complete", row.is_whole},
                      {"packed", row.is_packed}});
  }
  fmt::print("{}\n", models.dump(-1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace qwick::cli
