// What computes, put together from a loaded model and the options: quantised weights and the executor
// over them. Used by serve, chat, generate and perplexity.
#pragma once

#include <memory>

#include "cli/options.h"
#include "exec/cpu/cpu_executor.h"
#include "hub/loaded_model.h"

namespace qwick::cli {

class Backend {
 public:
  // `loaded` outlives this object. max_step_logits: rows of logits that one step may give. Throws
  // Error when the options ask for what the model or the machine can't do.
  Backend(const LoadedModel& loaded, const Options& options, uint32_t max_step_logits);

  CpuExecutor& executor() { return *executor_; }
  uint64_t weight_bytes() const { return weights_.matrices.size(); }
  std::string_view isa() const { return isa_; }

 private:
  PackedModel weights_;
  std::string_view isa_;
  std::unique_ptr<CpuExecutor> executor_;
};

}  // namespace qwick::cli
