#include "model/source.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "base/numeric.h"
#include "model/config_check.h"

namespace qwick {
namespace {

constexpr size_t kGgufHeaderBytes = 64 << 10;  // enough to tell files apart; vocabularies are longer

std::span<const std::byte> header_of(const MappedFile& file, bool is_gguf) {
  if (is_gguf) return file.bytes().first(std::min(file.bytes().size(), kGgufHeaderBytes));
  return file.bytes().first(8 + load<uint64_t>(file.bytes().data()));  // checked when it was opened
}

uint64_t hash(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace

uint64_t source_path_hash(const std::string& path) {
  return hash(std::as_bytes(std::span(path)), 0);
}

std::optional<ModelSource> source_of(const Model& model) {
  const std::span<const MappedFile> files = model.weight_files();
  if (!std::all_of(files.begin(), files.end(), [](const MappedFile& file) { return file.is_mapped(); }))
    return std::nullopt;
  const auto* directory = std::get_if<FileSet>(&model.files());
  ModelSource source;
  std::error_code error;
  source.path = std::filesystem::canonical(directory ? directory->name() : files[0].name(), error).string();
  if (error) return std::nullopt;  // moved away in this very moment
  source.path_hash = source_path_hash(source.path);
  source.name = directory ? path_model_name(source.path) : std::filesystem::path(source.path).stem().string();
  if (directory) source.fingerprint = hash(directory->open("config.json").bytes(), 0);
  for (const MappedFile& file : files) {
    const std::string name = std::filesystem::path(file.name()).filename().string();
    const uint64_t facts[] = {file.bytes().size(), static_cast<uint64_t>(file.modified_ns())};
    source.fingerprint = hash(std::as_bytes(std::span(name)), source.fingerprint);
    source.fingerprint = hash(std::as_bytes(std::span(facts)), source.fingerprint);
    source.fingerprint = hash(header_of(file, directory == nullptr), source.fingerprint);
  }
  return source;
}

}  // namespace qwick
