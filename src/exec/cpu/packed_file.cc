#include "exec/cpu/packed_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/numeric.h"

namespace qwick {
namespace {

constexpr size_t kSliceBytes = 8 << 20;  // of the payload, for one thread to check

static_assert(std::is_trivially_copyable_v<PackedHeader> && sizeof(PackedHeader) <= kPackedHeaderBytes);
static_assert(std::has_unique_object_representations_v<PackedHeader>);  // no padding

// A hash of the hashes of slices.
uint64_t checksum(std::span<const uint8_t> payload, ThreadPool& pool) {
  std::vector<uint64_t> hashes((payload.size() + kSliceBytes - 1) / kSliceBytes);
  pool.parallel_for(hashes.size(), [&](int, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t at = i * kSliceBytes;
      const auto slice = payload.subspan(at, std::min(kSliceBytes, payload.size() - at));
      hashes[i] = XXH3_64bits(slice.data(), slice.size());
    }
  });
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(uint64_t));
}

void check_belongs(const PackedHeader& header, const std::string& name, const Model& model,
                   const ModelSource& source, QuantFormat wanted) {
  if (header.format != wanted) {
    invalid_file("{}: packed as {}, not {}", name, quant_format_name(static_cast<QuantFormat>(header.format)),
                 quant_format_name(wanted));
  }
  if (header.fingerprint != source.fingerprint) {
    invalid_file("{}: packed from another model, or {} has changed since", name, source.path);
  }
  const PackedLayout layout = packed_layout(model, wanted);
  if (header.layout != layout.hash || header.n_bytes != layout.n_bytes)
    invalid_file("{}: packed in another layout than {} has", name, source.path);
}

}  // namespace

uint64_t PackedHeader::compute_checksum() const {
  return XXH3_64bits(this, offsetof(PackedHeader, header_checksum));
}

PackedHeader read_packed_header(const MappedFile& file) {
  const std::string& name = file.name();
  const std::span<const std::byte> bytes = file.bytes();
  const PackedHeader expected;
  if (bytes.size() < kPackedHeaderBytes)
    invalid_file("{}: truncated: {} bytes, too short for the header", name, bytes.size());
  const auto header = load<PackedHeader>(bytes.data());
  if (header.magic != expected.magic) invalid_file("{}: not a file of packed weights", name);
  if (header.version != kPackedVersion)
    invalid_file("{}: packed in version {} of the format, this is {}", name, header.version, kPackedVersion);
  const auto rest = bytes.subspan(sizeof header, kPackedHeaderBytes - sizeof header);
  if (header.header_checksum != header.compute_checksum() || header.format >= kNumQuantFormats ||
      std::any_of(rest.begin(), rest.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
    invalid_file("{}: the header is damaged", name);
  }
  if (header.n_bytes != bytes.size() - kPackedHeaderBytes) {
    invalid_file("{}: truncated or damaged: {} bytes after the header, it says {}", name,
                 bytes.size() - kPackedHeaderBytes, header.n_bytes);
  }
  return header;
}

PackedModel open_packed(const std::filesystem::path& path, const Model& model, const ModelSource& source,
                        QuantFormat wanted, ThreadPool& pool) {
  MappedFile file = MappedFile::open(path);
  const PackedHeader header = read_packed_header(file);
  check_belongs(header, file.name(), model, source, wanted);
  PackedModel packed = view_packed_model(model, wanted, std::move(file), kPackedHeaderBytes);
  if (checksum(packed.payload, pool) != header.checksum)
    invalid_file("{}: the weights are damaged, their checksum is wrong", path.string());
  return packed;
}

void write_packed(const std::filesystem::path& path, const PackedModel& packed, const Model& model,
                  const ModelSource& source, QuantFormat wanted, ThreadPool& pool) {
  PackedHeader header;
  header.format = static_cast<uint32_t>(wanted);
  header.fingerprint = source.fingerprint;
  header.layout = packed_layout(model, wanted).hash;
  header.n_bytes = packed.payload.size();
  header.checksum = checksum(packed.payload, pool);
  header.header_checksum = header.compute_checksum();
  std::array<std::byte, kPackedHeaderBytes> page{};
  std::memcpy(page.data(), &header, sizeof header);

  NewFile file(path);
  file.write(page);
  file.write(std::as_bytes(packed.payload));
  file.commit();
}

PackedModel load_or_pack(const std::filesystem::path& path, const Model& model, const ModelSource& source,
                         QuantFormat wanted, int n_threads) {
  try {
    ThreadPool pool(std::max(1, n_threads - 1));
    return open_packed(path, model, source, wanted, pool);
  } catch (const Error& error) {
    const bool is_new = error.code() == ErrorCode::kNotFound;
    log::info("{}; packing the weights, once", is_new ? path.string() + ": not there yet" : error.what());
  }
  ThreadPool pool(n_threads);
  PackedModel packed = pack_model(model, wanted, pool);
  try {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail(ErrorCode::kIo, "{}: {}", path.parent_path().string(), error.message());
    write_packed(path, packed, model, source, wanted, pool);
  } catch (const Error& error) {
    log::warn("{}; the packed weights stay in memory, for this time", error.what());
    return packed;
  }
  // From here on as at any later start: pages of the file, which the system may drop, in place of memory.
  packed = PackedModel();
  try {
    return open_packed(path, model, source, wanted, pool);
  } catch (const Error& error) {  // a disk that lies, or somebody who was quick to change something
    log::warn("{}; packing the weights into memory", error.what());
    return pack_model(model, wanted, pool);
  }
}

}  // namespace qwick
