// From a name to a model on disk: what is in the cache, or what a hub has. Called by the commands, before
// they open the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hub/hub_settings.h"
#include "hub/model_names.h"

namespace qwick {

struct Pulled {
  std::filesystem::path model;  // a directory, or a .gguf file
  std::string commit;
  uint64_t n_bytes = 0;    // of its files
  uint64_t n_fetched = 0;  // of them, by this call
};

// Asks the hub for the model's present state, fetches what is missing of it into the cache, checks it.
// Throws Error: one line that says what to do.
Pulled pull_model(const HubName& name, const HubSettings& settings);

// The name that MODEL on the command line is; nothing when it is the demo or a path that is there, which
// always win, or can't be a name.
std::optional<HubName> hub_name_of(const std::string& model);

// The model in the cache, fetched first where it is not there; no hub is asked where it is.
std::filesystem::path find_or_pull(const HubName& name, const HubSettings& settings);

}  // namespace qwick
