// Arbitrary bytes as the list of files of each hub, and as a name.
// Anything but success or an Error is a bug, and so is a path that leaves the cache or a hash that is none.
// Run by tests/fuzz/run.sh.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "hub/hub_api.h"

namespace {

void check_path(const std::string& path) {
  QWICK_CHECK(!path.empty() && path.front() != '/' && path.back() != '/');
  const std::string slashed = "/" + path + "/";
  for (const std::string_view bad : {"/../", "/./", "//", "\\", "\n", "\x1b"}) {
    QWICK_CHECK(slashed.find(bad) == std::string::npos);
  }
}

template <typename Parse>
void check_list(Parse parse, std::string_view text) {
  const qwick::HubName name{"org/model", "", ""};
  try {
    const qwick::RemoteModel model = parse(text, "https://hub", name);
    QWICK_CHECK(model.commit.size() == 40 && qwick::parse_blob_hash(model.commit));
    for (const qwick::RemoteFile& file : model.files) {
      check_path(file.path);
      QWICK_CHECK(qwick::parse_blob_hash(file.hash.hex) &&
                  file.url.find_first_of(" \r\n") == std::string::npos);
    }
    QWICK_CHECK(!qwick::select_files(model, name).empty());
  } catch (const qwick::Error& error) {
    const std::string_view what = error.what();
    QWICK_CHECK(what.find('\n') == std::string_view::npos && what.find('\x1b') == std::string_view::npos);
  }
}

void check_name(std::string_view text) {
  const auto name = qwick::parse_hub_name(text);
  if (!name) return;
  check_path(name->repo);
  check_path(name->revision_or_main());
  if (!name->file.empty()) check_path(name->file);
  QWICK_CHECK(qwick::parse_hub_name(name->text())->text() == name->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_list(qwick::parse_hugging_face_list, text);
  check_list(qwick::parse_modelscope_list, text);
  check_name(text);
  return 0;
}
