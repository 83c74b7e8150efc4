// `qwick pack`: a model's weights, quantised and in the kernels' layout, into one file for --packed.
#include <fmt/core.h>

#include <chrono>

#include "base/error.h"
#include "cli/backend.h"
#include "cli/input.h"
#include "exec/cpu/packed_file.h"

namespace qwick::cli {

int pack(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const Model model = Model::open(open_model_files(options.model));
  const std::optional<QuantFormat> format = weight_format(model.config(), options);
  if (!format) {
    fail(ErrorCode::kInvalidArgument, "{}: runs in f32; only q8, q6, q5 and q4 are packed", options.model);
  }
  const auto source = source_of(model);
  if (!source) fail(ErrorCode::kInvalidArgument, "{}: only a model in files is packed", options.model);
  ThreadPool pool(n_threads(options));
  const PackedModel packed = pack_model(model, *format, pool);
  write_packed(options.out, packed, model, *source, *format, pool);

  uint64_t n_parameters = 0;
  for (const TensorView& tensor : model.tensors()) n_parameters += tensor.n_elements();
  const auto n_bytes = static_cast<double>(packed.payload.size());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {:.1f} MiB, {:.2f} bits per weight, {:.1f} s\n", options.out, n_bytes / (1 << 20),
             8 * n_bytes / static_cast<double>(n_parameters), seconds.count());
  return 0;
}

}  // namespace qwick::cli
