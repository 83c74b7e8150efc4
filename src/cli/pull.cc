// `qwick pull`: fetches a model from a hub into the cache. Prints where it is, for scripts.
#include "hub/pull.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/input.h"
#include "hub/progress.h"

namespace qwick::cli {

int pull(const Options& options) {
  HubName name = required_hub_name(options);
  if (!options.file.empty()) {
    if (!is_safe_path(options.file) || !options.file.ends_with(".gguf"))
      fail(ErrorCode::kInvalidArgument, "--file {}: must be the name of a .gguf file", options.file);
    name.file = options.file;
  }
  const Pulled pulled = pull_model(name, hub_settings(options));
  if (pulled.n_fetched > 0) {
    log::info("{}: {} fetched and checked", name.text(), byte_text(pulled.n_fetched));
  } else {
    log::info("{}: is there already", name.text());
  }
  fmt::print("{}\n", pulled.model.string());
  return 0;
}

}  // namespace qwick::cli
