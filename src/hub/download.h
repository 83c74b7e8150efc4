// Fetching blobs: a few connections, each a run of blocks of one file at a time; broken connections go on
// where they broke, killed processes at the last whole block. A blob gets its name when its hash is right,
// never before. Called by hub/pull.
#pragma once

#include <filesystem>
#include <vector>

#include "hub/hub_api.h"
#include "hub/hub_errors.h"

namespace qwick {

struct Download {
  RemoteFile file;
  std::filesystem::path blob;
  std::filesystem::path lock;
};

// True when the blob is there, with the right size.
bool is_fetched(const Download& download);

// Returns when all are there, whoever fetched them: one that another process holds the lock of is waited
// for. Shows its progress. Throws Error: kIo (network, disk), kInvalidFile (the hash is wrong: thrown away).
void fetch_all(const std::vector<Download>& downloads, const HubPlace& place, const HubName& name);

}  // namespace qwick
