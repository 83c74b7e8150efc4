// What computes, put together from a model and the options: weights and the executor over them. Used
// by serve, chat, generate, perplexity and pack.
#pragma once

#include <memory>

#include "cli/options.h"
#include "exec/cpu/packed_model.h"
#include "exec/executor.h"
#include "hub/loaded_model.h"

namespace qwick::cli {

// A model with the weights that the kernels want: from --packed, from the file that an earlier start
// left in the cache directory, or packed now. None of that with --dtype f32.
struct ReadyModel : LoadedModel {
  PackedModel weights;
};
ReadyModel load_ready_model(const Options& options);

// What --dtype means for this model. Throws Error where the kernels can't run it.
QuantFormat wanted_format(const Model& model, const Options& options);

class Backend {
 public:
  // `ready` outlives this object. max_step_logits: rows of logits that one step may give. Throws
  // Error when the options ask for what the model or the machine can't do.
  Backend(const ReadyModel& ready, const Options& options, uint32_t max_step_logits);

  Executor& executor() { return *executor_; }

 private:
  std::unique_ptr<Executor> executor_;
};

}  // namespace qwick::cli
