// Which files a model came from, and in which state: what tells whether something made of its weights
// (exec/cpu/packed_file.h) is still right. Reads headers, never weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/model.h"

namespace qwick {

struct ModelSource {
  std::string path;          // of the directory or the GGUF file, canonical
  uint64_t path_hash = 0;    // to name files by
  std::string name;          // what the path calls the model
  uint64_t fingerprint = 0;  // another one when a file was changed, replaced or renamed
};

// ModelSource::path_hash of a canonical path.
uint64_t source_path_hash(const std::string& path);

// Nothing for a model that is in memory.
std::optional<ModelSource> source_of(const Model& model);

}  // namespace qwick
