// What computes, put together from a model and the options: weights and the executor over them. Used
// by serve, chat, generate, perplexity and pack.
#pragma once

#include <memory>
#include <optional>
#include <string>

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

// What --dtype means for this model; nothing: the reference, in 32-bit floats. Throws Error where
// the kernels can't run it as asked.
std::optional<QuantFormat> weight_format(const ModelConfig& config, const Options& options);

// What a step costs at least, for comparing speeds with the machine's.
struct StepWork {
  uint64_t weight_bytes = 0;           // read once by a step that gives logits
  uint64_t cache_bytes_per_token = 0;  // read for each token before
  uint64_t macs_per_token = 0;         // of the layers' matrices
};

class Backend {
 public:
  // `ready` outlives this object. max_step_logits: rows of logits that one step may give. Throws
  // Error when the options ask for what the model or the machine can't do.
  Backend(const ReadyModel& ready, const Options& options, uint32_t max_step_logits);

  Executor& executor() { return *executor_; }
  StepWork work() const;      // zero for --dtype f32
  std::string isa() const;    // whose kernels run: "avx2"; "reference" for --dtype f32
  std::string dtype() const;  // "q8", "f32"

 private:
  std::optional<QuantFormat> format_;
  const PackedModel* weights_ = nullptr;  // with quantised weights only
  const Kernels* kernels_ = nullptr;      // likewise
  uint64_t cache_bytes_per_token_ = 0;
  std::unique_ptr<Executor> executor_;
};

}  // namespace qwick::cli
