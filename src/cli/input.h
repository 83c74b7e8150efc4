// What commands read and check alike.
#pragma once

#include <string>

#include "cli/options.h"
#include "hub/loaded_model.h"

namespace qwick::cli {

// --text, --file, or standard input up to its end.
std::string read_text(const Options& options);

// --threads, or one per core.
int n_threads(const Options& options);

// Ids that may be sampled: those that the tokenizer knows.
std::vector<bool> sampleable_ids(const Tokenizer& tokenizer);

// The ids that end an answer: the model's, or else the tokenizer's.
std::vector<int32_t> end_ids(const LoadedModel& loaded);

}  // namespace qwick::cli
