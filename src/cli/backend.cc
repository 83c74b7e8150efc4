#include "cli/backend.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/input.h"
#include "cli/packed_cache.h"
#include "exec/cpu/cpu_executor.h"
#include "exec/cpu/isa.h"
#include "exec/cpu/packed_file.h"
#include "exec/reference_executor.h"
#include "format/dequantize.h"
#include "model/source.h"

namespace qwick::cli {
namespace {

constexpr uint32_t kStepTokens = 256;  // of prompts and answers in one step
constexpr uint64_t kCacheShare = 4;    // without --kv-cache-mib: this part of the free memory
constexpr uint64_t kMaxCacheBytes = uint64_t{4} << 30;

// What this process may still take: of the machine, or of its control group (a container).
uint64_t free_memory_bytes() {
  uint64_t free_bytes = std::numeric_limits<uint64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    if (word != "MemAvailable:") continue;
    meminfo >> free_bytes;
    free_bytes *= 1024;
    break;
  }
  uint64_t limit = 0;
  uint64_t used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    free_bytes = std::min(free_bytes, limit > used ? limit - used : 0);
  }
  return free_bytes;
}

// Where keys have biases (Qwen2), these are so much larger than the rest that 8 bits lose too much of it;
// docs/quality.md has the figures.
bool wants_wide_keys(const ModelConfig& config, const Options& options) {
  if (options.kv_type == "auto") return config.qkv_bias;
  if (options.kv_type == "q8") return false;
  if (options.kv_type == "k16") return true;
  fail(ErrorCode::kInvalidArgument, "--kv-type {}: there are auto, q8 and k16", options.kv_type);
}

// Bytes that the cache needs for a block of kCacheBlockTokens tokens.
uint64_t cache_block_bytes(const ModelConfig& config, bool is_f32, bool has_wide_keys) {
  if (!is_f32)
    return KvBlocks::block_bytes(config.n_layers, config.n_kv_heads, config.head_dim, has_wide_keys);
  return uint64_t{2} * config.n_layers * config.kv_dim() * kCacheBlockTokens * sizeof(float);
}

ExecutorOptions executor_options(const ModelConfig& config, const Options& options,
                                 uint32_t max_step_logits) {
  if (options.ctx > config.max_positions) {
    fail(ErrorCode::kInvalidArgument, "--ctx {} is more than the model's context of {} tokens", options.ctx,
         config.max_positions);
  }
  const uint64_t cache_bytes = options.kv_cache_mib > 0
                                   ? uint64_t{options.kv_cache_mib} << 20
                                   : std::min(free_memory_bytes() / kCacheShare, kMaxCacheBytes);
  const bool has_wide_keys = wants_wide_keys(config, options);
  const uint64_t block_bytes = cache_block_bytes(config, !weight_format(config, options), has_wide_keys);
  const uint64_t n_blocks = std::min<uint64_t>(cache_bytes / block_bytes, uint64_t{1} << 24);
  const uint64_t n_tokens = n_blocks * kCacheBlockTokens;
  const uint64_t context = options.ctx > 0 ? options.ctx : std::min<uint64_t>(config.max_positions, n_tokens);
  if (context > n_tokens || n_tokens == 0) {
    fail(ErrorCode::kInvalidArgument,
         "a cache of {} MiB holds {} tokens, the context is to have {}; see --kv-cache-mib and --ctx",
         cache_bytes >> 20, n_tokens, context);
  }
  ExecutorOptions made;
  made.n_threads = n_threads(options);
  made.n_blocks = static_cast<uint32_t>(n_blocks);
  made.max_positions = static_cast<uint32_t>(context);
  made.max_step_tokens = kStepTokens;
  made.max_step_logits = max_step_logits;
  made.has_wide_keys = has_wide_keys;
  return made;
}

// Called while the tokenizer is read, which keeps one thread busy.
PackedModel load_weights(const Model& model, QuantFormat format, const Options& options) {
  const int n = n_threads(options);
  const std::optional<ModelSource> source = source_of(model);
  if (!options.packed.empty()) {
    if (!source) fail(ErrorCode::kInvalidArgument, "--packed {}: the built-in demo has none", options.packed);
    ThreadPool pool(std::max(1, n - 1));
    return open_packed(options.packed, model, *source, format, pool);
  }
  if (const auto file = source ? packed_cache_file(*source, format) : std::nullopt)
    return load_or_pack(*file, model, *source, format, n);
  ThreadPool pool(n);
  return pack_model(model, format, pool);
}

}  // namespace

std::optional<QuantFormat> weight_format(const ModelConfig& config, const Options& options) {
  if (options.dtype == "f32") return std::nullopt;
  const std::string reason = why_not_packable(config);
  if (options.dtype == "auto") return reason.empty() ? std::optional(kQ8) : std::nullopt;
  constexpr std::pair<std::string_view, QuantFormat> kNames[] = {
      {"q4", kQ4}, {"q5", kQ5}, {"q6", kQ6}, {"q8", kQ8}};
  const auto* named = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& entry) { return entry.first == options.dtype; });
  if (named == std::end(kNames)) {
    fail(ErrorCode::kInvalidArgument, "--dtype {}: there are auto, f32, q8, q6, q5 and q4", options.dtype);
  }
  if (!reason.empty())
    fail(ErrorCode::kUnsupported, "{}: {}, which only --dtype f32 handles", config.name, reason);
  return named->second;
}

ReadyModel load_ready_model(const Options& options) {
  PackedModel weights;
  LoadedModel loaded = load_model(options.model, options.chat_template, [&](const Model& model) {
    executor_options(model.config(), options, 1);  // what can't be is said before packing takes its time
    const std::optional<QuantFormat> format = weight_format(model.config(), options);
    if (format) weights = load_weights(model, *format, options);
    if (!format && !options.packed.empty())
      fail(ErrorCode::kInvalidArgument, "--packed {}: --dtype f32 uses no packed weights", options.packed);
  });
  return {std::move(loaded), std::move(weights)};
}

Backend::Backend(const ReadyModel& ready, const Options& options, uint32_t max_step_logits) {
  const ModelConfig& config = ready.model.config();
  const ExecutorOptions made = executor_options(config, options, max_step_logits);
  format_ = weight_format(config, options);
  if (!format_) {
    executor_ = std::make_unique<ReferenceExecutor>(ready.model, made);
    return;
  }
  weights_ = &ready.weights;
  cache_bytes_per_token_ = cache_block_bytes(config, false, made.has_wide_keys) / kCacheBlockTokens;
  const TensorView& factors = ready.model.weights().rope_factors;
  std::vector<float> rope_factors(factors.data.empty() ? 0 : factors.n_elements());
  if (!rope_factors.empty()) dequantize(factors.dtype, factors.data, rope_factors);
  kernels_ = &choose_kernels();
  executor_ = std::make_unique<CpuExecutor>(config, rope_factors, ready.weights, *kernels_, made);
}

std::string Backend::isa() const {
  return kernels_ == nullptr ? "reference" : kernels_->name;
}

std::string Backend::dtype() const {
  return std::string(format_ ? quant_format_name(*format_) : "f32");
}

StepWork Backend::work() const {
  StepWork work;
  if (weights_ == nullptr) return work;
  const auto bytes = [](const QuantMatrix& w) {
    return uint64_t{w.n_rows} / kTileRows * tile_bytes(w.format, w.n_cols);
  };
  for (const PackedLayer& layer : weights_->layers) {
    for (const QuantMatrix* w :
         {&layer.wq, &layer.wk, &layer.wv, &layer.wo, &layer.w_gate, &layer.w_up, &layer.w_down}) {
      work.weight_bytes += bytes(*w);
      work.macs_per_token += uint64_t{w->n_rows} * w->n_cols;
    }
  }
  work.weight_bytes += bytes(weights_->lm_head);
  work.cache_bytes_per_token = cache_bytes_per_token_;
  return work;
}

}  // namespace qwick::cli
