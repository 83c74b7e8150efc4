// Names of models on a hub: ORG/NAME[@REVISION][:FILE.gguf], and the one table of short names. Called by
// the commands and by hub/pull; knows nothing of disks and networks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qwick {

struct HubName {
  std::string repo;      // "Qwen/Qwen3-0.6B"
  std::string revision;  // a branch, a tag or a commit; "": the main branch
  std::string file;      // the one .gguf file that is meant; "": the whole model

  // The branch that every model has, under its name at Hugging Face.
  const std::string& revision_or_main() const;
  std::string text() const;  // as users write it
};

struct ShortName {
  std::string_view name;
  std::string_view full_name;
};

std::span<const ShortName> short_names();

// Nothing when the text can't be a name: it may still be a path. Capitals make no difference in short names.
std::optional<HubName> parse_hub_name(std::string_view text);

// A relative path that stays below where it starts, of names that every file system takes: no "..", no
// control characters, no backslash.
bool is_safe_path(std::string_view path);

}  // namespace qwick
