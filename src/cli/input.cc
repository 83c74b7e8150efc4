#include "cli/input.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace qwick::cli {

std::string read_text(const Options& options) {
  if (!options.text.empty()) return options.text;
  if (!options.file.empty()) return std::string(MappedFile::open(options.file).text());
  return {std::istreambuf_iterator<char>(std::cin), {}};
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
