// Arbitrary bytes as a file of packed weights: as they are, and with the checksum of the header put
// right, so that what lies behind it is reached. Anything but a header that fits the file or an Error
// is a bug. Run by tests/fuzz/run.sh.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "exec/cpu/packed_file.h"

namespace {

void check(std::string_view bytes) {
  try {
    const qwick::PackedHeader header = qwick::read_packed_header(
        qwick::MappedFile::from_memory("fuzz.qwick", std::as_bytes(std::span(bytes))));
    QWICK_CHECK(header.version == qwick::kPackedVersion && header.format < qwick::kNumQuantFormats);
    QWICK_CHECK(header.n_bytes + qwick::kPackedHeaderBytes == bytes.size());
  } catch (const qwick::Error& error) {
    QWICK_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  // The input as the header and what comes after its page: a page of zeros is nothing to mutate.
  qwick::PackedHeader header;
  const size_t n = std::min(size, sizeof header);
  std::memcpy(&header, data, n);
  header.header_checksum = header.compute_checksum();
  std::string page(qwick::kPackedHeaderBytes, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  check(page + bytes.substr(n));
  return 0;
}
