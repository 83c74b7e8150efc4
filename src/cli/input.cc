#include "cli/input.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace qwick::cli {

namespace {
constexpr uint32_t kDefaultContext = 8192;
}

std::string read_text(const Options& options) {
  if (!options.text.empty()) return options.text;
  if (!options.file.empty()) return std::string(MappedFile::open(options.file).text());
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int n_threads(const Options& options) {
  if (options.threads < 0 || options.threads > 1024) {
    fail(ErrorCode::kInvalidArgument, "--threads must be between 0 and 1024, not {}", options.threads);
  }
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

uint32_t context_length(const Options& options, const ModelConfig& config) {
  if (options.ctx > config.max_positions) {
    fail(ErrorCode::kInvalidArgument, "--ctx {} is more than the model's context of {} tokens", options.ctx,
         config.max_positions);
  }
  return options.ctx > 0 ? options.ctx : std::min(config.max_positions, kDefaultContext);
}

std::vector<bool> sampleable_ids(const Tokenizer& tokenizer) {
  std::vector<bool> ids(static_cast<size_t>(tokenizer.vocab_size()));
  for (size_t id = 0; id < ids.size(); ++id) ids[id] = tokenizer.is_used(static_cast<int32_t>(id));
  return ids;
}

std::vector<int32_t> end_ids(const LoadedModel& loaded) {
  std::vector<int32_t> ids = loaded.model.generation_defaults().eos_ids;
  if (ids.empty() && loaded.tokenizer.eos_id()) ids.push_back(*loaded.tokenizer.eos_id());
  return ids;
}

void check_dtype(const Options& options) {
  if (options.dtype != "f32") fail(ErrorCode::kInvalidArgument, "--dtype {}: there is only f32 yet", options.dtype);
}

}  // namespace qwick::cli
