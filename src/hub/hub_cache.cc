#include "hub/hub_cache.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "hub/file_lock.h"

namespace fs = std::filesystem;

namespace qwick {
namespace {

constexpr std::string_view kFolderPrefix = "models--";
constexpr std::string_view kShardSuffix = ".safetensors";

// "Qwen/Qwen3-0.6B" -> "models--Qwen--Qwen3-0.6B"
std::string folder_name(const std::string& repo) {
  const size_t slash = repo.find('/');
  return std::string(kFolderPrefix) + repo.substr(0, slash) + "--" + repo.substr(slash + 1);
}

std::optional<std::string> repo_of_folder(const std::string& folder) {
  if (!folder.starts_with(kFolderPrefix)) return std::nullopt;
  std::string repo = folder.substr(kFolderPrefix.size());
  const size_t between = repo.find("--");
  if (between == std::string::npos) return std::nullopt;
  repo.replace(between, 2, "/");
  return parse_hub_name(repo) ? std::optional(repo) : std::nullopt;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// What is in a directory, sorted; nothing where it can't be read.
std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The files of a directory and of those in it, by their names relative to it. Links to directories are
// not followed.
std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_directory(gone) || entry->is_symlink(gone))
      names.push_back(entry->path().lexically_relative(directory).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

bool is_commit(const std::string& text) {
  const auto hash = parse_blob_hash(text);
  return hash && hash->hex.size() == 40;
}

// Of "model-00001-of-00004.safetensors" there must be four.
bool has_all_shards(const fs::path& snapshot) {
  std::map<std::string, unsigned> n_by_total;
  for (const fs::path& path : entries_of(snapshot)) {
    const std::string name = path.filename().string();
    const size_t of = name.rfind("-of-");
    if (of == std::string::npos || !name.ends_with(kShardSuffix) || !is_there(path)) continue;
    ++n_by_total[name.substr(of + 4, name.size() - kShardSuffix.size() - of - 4)];
  }
  return std::any_of(n_by_total.begin(), n_by_total.end(), [](const auto& entry) {
    const auto& [digits, n_there] = entry;
    unsigned total = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), total);
    return error == std::errc() && end == digits.data() + digits.size() && total == n_there;
  });
}

void remove_path(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(ErrorCode::kIo, "{}: can't remove it: {}", path.string(), error.message());
}

uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

[[noreturn]] void fail_to_write(const fs::path& path, const std::error_code& error) {
  fail(ErrorCode::kIo, "{}: can't write it: {}", path.string(), error.message());
}

void make_directories(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail_to_write(directory, error);
}

}  // namespace

std::optional<fs::path> model_in(const fs::path& snapshot, const std::string& file) {
  if (!file.empty()) return is_there(snapshot / file) ? std::optional(snapshot / file) : std::nullopt;
  if (is_there(snapshot / "config.json")) {
    const bool has_weights =
        is_there(snapshot / "model.safetensors") ||
        (is_there(snapshot / "model.safetensors.index.json") && has_all_shards(snapshot));
    if (has_weights && is_there(snapshot / "tokenizer.json")) return snapshot;
  }
  std::vector<fs::path> gguf;
  for (const fs::path& path : entries_of(snapshot)) {
    if (path.extension() == ".gguf" && is_there(path)) gguf.push_back(path);
  }
  return gguf.size() == 1 ? std::optional(gguf.front()) : std::nullopt;
}

fs::path HubCache::repo_directory(const std::string& repo) const {
  return root_ / folder_name(repo);
}

fs::path HubCache::blob(const std::string& repo, const BlobHash& hash) const {
  return repo_directory(repo) / "blobs" / hash.hex;
}

fs::path HubCache::lock(const std::string& repo, const BlobHash& hash) const {
  return root_ / ".locks" / folder_name(repo) / (hash.hex + ".lock");
}

std::optional<std::string> HubCache::commit_of(const std::string& repo, const std::string& revision) const {
  if (is_commit(revision)) return revision;
  std::string commit = first_line(repo_directory(repo) / "refs" / revision);
  return is_commit(commit) ? std::optional(std::move(commit)) : std::nullopt;
}

std::optional<fs::path> HubCache::find(const HubName& name) const {
  const auto commit = commit_of(name.repo, name.revision_or_main());
  if (!commit) return std::nullopt;
  return model_in(repo_directory(name.repo) / "snapshots" / *commit, name.file);
}

void HubCache::link(const std::string& repo, const std::string& commit, const std::string& path,
                    const BlobHash& hash) const {
  const fs::path link = repo_directory(repo) / "snapshots" / commit / path;
  const fs::path target = blob(repo, hash).lexically_relative(link.parent_path());
  std::error_code error;
  if (fs::read_symlink(link, error) == target && !error) return;
  make_directories(link.parent_path());
  std::random_device random;
  const fs::path temporary = link.string() + fmt::format(".{:08x}.qwick-new", random());
  error.clear();
  fs::create_symlink(target, temporary, error);
  if (!error) fs::rename(temporary, link, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail_to_write(link, error);
  }
}

void HubCache::set_revision(const std::string& repo, const std::string& revision,
                            const std::string& commit) const {
  const fs::path file = repo_directory(repo) / "refs" / revision;
  if (revision == commit || first_line(file) == commit) return;
  make_directories(file.parent_path());
  NewFile ref(file);
  ref.write(std::as_bytes(std::span(commit)));  // without a line's end: huggingface_hub reads it as it stands
  ref.commit();
}

CachedSnapshot HubCache::read_snapshot(const std::string& repo, const std::string& commit) const {
  CachedSnapshot snapshot{repo, commit, {}, repo_directory(repo) / "snapshots" / commit, {}};
  for (std::string& name : files_below(snapshot.directory)) {
    CachedFile file;
    file.path = snapshot.directory / name;
    file.is_there = is_there(file.path);
    file.size = size_of(file.path);
    std::error_code error;
    const fs::path target = fs::read_symlink(file.path, error);
    if (!error) file.hash = parse_blob_hash(target.filename().string());
    file.name = std::move(name);
    snapshot.files.push_back(std::move(file));
  }
  const fs::path refs = repo_directory(repo) / "refs";
  for (std::string& revision : files_below(refs)) {
    if (first_line(refs / revision) == commit) snapshot.revisions.push_back(std::move(revision));
  }
  return snapshot;
}

std::vector<CachedSnapshot> HubCache::snapshots(const HubName& name) const {
  const auto wanted = name.revision.empty() ? std::nullopt : commit_of(name.repo, name.revision);
  std::vector<CachedSnapshot> found;
  for (const fs::path& path : entries_of(repo_directory(name.repo) / "snapshots")) {
    const std::string commit = path.filename().string();
    if (is_commit(commit) && (name.revision.empty() || wanted == commit))
      found.push_back(read_snapshot(name.repo, commit));
  }
  return found;
}

std::vector<CachedSnapshot> HubCache::snapshots() const {
  std::vector<CachedSnapshot> found;
  for (const fs::path& path : entries_of(root_)) {
    const auto repo = repo_of_folder(path.filename().string());
    if (!repo) continue;
    for (CachedSnapshot& snapshot : snapshots(HubName{*repo, {}, {}})) found.push_back(std::move(snapshot));
  }
  return found;
}

void HubCache::check_nobody_fetches(const std::string& repo) const {
  for (const fs::path& path : entries_of(root_ / ".locks" / folder_name(repo))) {
    if (path.extension() == ".lock" && !FileLock::try_take(path))
      fail(ErrorCode::kIo, "{}: is being fetched right now; stop that first", repo);
  }
}

uint64_t HubCache::remove(const HubName& name) const {
  const fs::path repo = repo_directory(name.repo);
  const std::vector<CachedSnapshot> victims = snapshots(name);
  const bool is_all = name.revision.empty() && name.file.empty();
  if (victims.empty() && !(is_all && is_there(repo))) {
    fail(ErrorCode::kNotFound, "{}: is not in {}; `qwick list` shows what is", name.text(), root_.string());
  }
  check_nobody_fetches(name.repo);
  bool has_file = name.file.empty();
  std::set<std::string> blobs;
  for (const CachedSnapshot& snapshot : victims) {
    for (const CachedFile& file : snapshot.files) {
      if (!name.file.empty() && file.name != name.file) continue;
      has_file = true;
      if (file.hash) blobs.insert(file.hash->hex);
      remove_path(file.path);
    }
    if (!files_below(snapshot.directory).empty()) continue;  // other files than the one that was meant
    remove_path(snapshot.directory);
    remove_path(repo / "trees" / (snapshot.commit + ".json"));
    for (const std::string& revision : snapshot.revisions) remove_path(repo / "refs" / revision);
  }
  if (!has_file) fail(ErrorCode::kNotFound, "{}: has no such file", name.text());
  for (const CachedSnapshot& snapshot : snapshots(HubName{name.repo, {}, {}})) {
    for (const CachedFile& file : snapshot.files) {
      if (file.hash) blobs.erase(file.hash->hex);
    }
  }
  uint64_t n_bytes = 0;
  for (const std::string& hex : blobs) {
    const fs::path path = repo / "blobs" / hex;
    n_bytes += size_of(path);
    remove_path(path);
  }
  if (is_all) {  // what interrupted downloads left as well
    for (const std::string& left : files_below(repo)) n_bytes += size_of(repo / left);
    remove_path(repo);
    remove_path(root_ / ".locks" / folder_name(name.repo));
  }
  return n_bytes;
}

}  // namespace qwick
