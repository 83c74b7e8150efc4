// What commands read and check alike.
#pragma once

#include <string>

#include "cli/options.h"
#include "hub/hub_settings.h"
#include "hub/loaded_model.h"
#include "hub/model_names.h"

namespace qwick::cli {

// --text, --file, or standard input up to its end.
std::string read_text(const Options& options);

// The environment's, with --source and --offline.
HubSettings hub_settings(const Options& options);

// MODEL as a path, or "" or "demo": a name on a hub is fetched first where it is not there.
std::string model_path(const Options& options);

// NAME, which must be a name on a hub. Throws Error kInvalidArgument.
HubName required_hub_name(const Options& options);

// --threads, or one per core.
int n_threads(const Options& options);

// Ids that may be sampled: those that the tokenizer knows.
std::vector<bool> sampleable_ids(const Tokenizer& tokenizer);

// The ids that end an answer: the model's, or else the tokenizer's.
std::vector<int32_t> end_ids(const LoadedModel& loaded);

}  // namespace qwick::cli
