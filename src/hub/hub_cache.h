// The cache of models on disk, laid out as huggingface_hub lays it out, so that each finds what the other
// fetched:
//   models--ORG--NAME/blobs/HASH                     the bytes of a file
//   models--ORG--NAME/snapshots/COMMIT/config.json   a link to ../../blobs/HASH
//   models--ORG--NAME/refs/main                      the commit that a branch or tag names
//   .locks/models--ORG--NAME/HASH.lock               held while a blob is fetched
// Called by hub/pull and the commands that list and remove. Throws Error kIo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hub/blob_hash.h"
#include "hub/model_names.h"

namespace qwick {

struct CachedFile {
  std::string name;            // within the snapshot
  std::filesystem::path path;  // of the link in the snapshot
  uint64_t size = 0;
  std::optional<BlobHash> hash;  // nothing: a file and no link, as where there are no symbolic links
  bool is_there = false;         // false: the link leads nowhere
};

struct CachedSnapshot {
  std::string repo;
  std::string commit;
  std::vector<std::string> revisions;  // branches and tags that name it
  std::filesystem::path directory;
  std::vector<CachedFile> files;  // sorted by name
};

class HubCache {
 public:
  explicit HubCache(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path blob(const std::string& repo, const BlobHash& hash) const;
  std::filesystem::path lock(const std::string& repo, const BlobHash& hash) const;

  // A model that is there whole, as Model::open wants it: a snapshot's directory, or a .gguf file in it.
  std::optional<std::filesystem::path> find(const HubName& name) const;

  // Makes `path` of a snapshot a link to the blob. Replaces what was there, in one step.
  void link(const std::string& repo, const std::string& commit, const std::string& path,
            const BlobHash& hash) const;
  // From now on `revision` names `commit`. A revision that is the commit itself needs nothing.
  void set_revision(const std::string& repo, const std::string& revision, const std::string& commit) const;

  // Every snapshot of every model, or of one repository; by name. Unreadable places are passed over.
  std::vector<CachedSnapshot> snapshots() const;
  std::vector<CachedSnapshot> snapshots(const HubName& name) const;  // of its revision, where it has one

  // Removes what `name` means: a file, the snapshot of a revision, or all that is there of a model; blobs
  // too where nothing else links to them. Returns the bytes that became free. Throws Error kNotFound, and
  // kIo while the model is being fetched.
  uint64_t remove(const HubName& name) const;

 private:
  std::filesystem::path repo_directory(const std::string& repo) const;
  std::optional<std::string> commit_of(const std::string& repo, const std::string& revision) const;
  CachedSnapshot read_snapshot(const std::string& repo, const std::string& commit) const;
  void check_nobody_fetches(const std::string& repo) const;

  std::filesystem::path root_;
};

// The model in a snapshot's directory, as HubCache::find gives it.
std::optional<std::filesystem::path> model_in(const std::filesystem::path& snapshot, const std::string& file);

}  // namespace qwick
