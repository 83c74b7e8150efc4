// The packed weights in a file, so that a model is quantised once and mapped afterwards: a page with the
// header below, then the payload of a PackedModel (packed_model.h), byte for byte as the kernels read it.
// Called by cli/. A file is used only when it is whole and made from this very model: anything else is an
// Error in one line (load_or_pack makes it anew).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "base/file.h"
#include "base/thread_pool.h"
#include "exec/cpu/packed_model.h"
#include "model/source.h"

namespace qwick {

// One more whenever the same model is to give other bytes: the layout of tiles, the way of rounding, the
// set or the order of tensors.
inline constexpr uint32_t kPackedVersion = 1;

struct PackedHeader {  // little-endian, as in memory
  std::array<char, 8> magic{'q', 'w', 'i', 'c', 'k', 'p', 'k', '\n'};
  uint32_t version = kPackedVersion;
  uint32_t format = 0;       // QuantFormat that was wanted
  uint64_t fingerprint = 0;  // ModelSource
  uint64_t layout = 0;       // PackedLayout::hash
  uint64_t n_bytes = 0;      // of the payload
  uint64_t checksum = 0;     // of the payload
  uint64_t header_checksum = 0;

  uint64_t compute_checksum() const;  // what header_checksum must be
};
inline constexpr size_t kPackedHeaderBytes = 4096;  // so that the payload begins with a page

// The header of a file whose header is whole and whose size is right; the payload is not looked at.
PackedHeader read_packed_header(const MappedFile& file);

// Checks everything and maps it. Throws Error kNotFound, kIo, kInvalidFile.
PackedModel open_packed(const std::filesystem::path& path, const Model& model, const ModelSource& source,
                        QuantFormat wanted, ThreadPool& pool);

// Replaces the file whole. Throws Error kIo.
void write_packed(const std::filesystem::path& path, const PackedModel& packed, const Model& model,
                  const ModelSource& source, QuantFormat wanted, ThreadPool& pool);

// Opens the file; where that fails, packs the model and writes it for the next time. The log says why.
// Where it can't be written, the weights are in memory. Checking leaves one of the threads free.
PackedModel load_or_pack(const std::filesystem::path& path, const Model& model, const ModelSource& source,
                         QuantFormat wanted, int n_threads);

}  // namespace qwick
