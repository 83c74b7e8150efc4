#include "cli/input.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "hub/pull.h"

namespace qwick::cli {

std::string read_text(const Options& options) {
  if (!options.text.empty()) return options.text;
  if (!options.file.empty()) return std::string(MappedFile::open(options.file).text());
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

HubSettings hub_settings(const Options& options) {
  HubSettings settings = HubSettings::from_environment();
  settings.source = parse_hub_source(options.source);
  settings.is_offline = settings.is_offline || options.offline;
  return settings;
}

std::string model_path(const Options& options) {
  const auto name = hub_name_of(options.model);
  return name ? find_or_pull(*name, hub_settings(options)).string() : options.model;
}

HubName required_hub_name(const Options& options) {
  if (auto name = parse_hub_name(options.model)) return *std::move(name);
  fail(ErrorCode::kInvalidArgument,
       "{}: no name of a model on the hub; it is ORG/NAME[@REVISION][:FILE.gguf], or a short name (`qwick "
       "list` "
       "shows them)",
       options.model);
}

int n_threads(const Options& options) {
  if (options.threads < 0 || options.threads > 1024) {
    fail(ErrorCode::kInvalidArgument, "--threads must be between 0 and 1024, not {}", options.threads);
  }
  return options.threads > 0 ? options.threads
                             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::vector<bool> sampleable_ids(const Tokenizer& tokenizer) {
  std::vector<bool> ids(static_cast<size_t>(tokenizer.vocab_size()));
  for (size_t id = 0; id < ids.size(); ++id) ids[id] = tokenizer.is_used(static_cast<int32_t>(id));
  return ids;
}

std::vector<int32_t> end_ids(const LoadedModel& loaded) {
  std::vector<int32_t> ids = loaded.model.generation_defaults().eos_ids;
  if (const auto eos = loaded.tokenizer.eos_id(); ids.empty() && eos) ids.push_back(*eos);
  return ids;
}

}  // namespace qwick::cli
