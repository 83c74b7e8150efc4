// Where packed weights are kept between starts: $QWICK_CACHE or ~/.cache/qwick/packed, a file for each model
// and --dtype. Called by backend, which makes them, and by the commands that list and remove models.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "exec/cpu/packed_model.h"
#include "model/source.h"

namespace qwick::cli {

// Nothing where there is no place for packed weights.
std::optional<std::filesystem::path> packed_cache_file(const ModelSource& source, QuantFormat format);

// What is packed of the model at `path`, a directory or a .gguf file, in any format.
std::vector<std::filesystem::path> packed_files_of(const std::filesystem::path& path);

}  // namespace qwick::cli
