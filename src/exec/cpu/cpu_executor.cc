#include "exec/cpu/cpu_executor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace qwick {
namespace {

uint32_t padded_rows(uint32_t n) {
  return (n + kTileRows - 1) / kTileRows * kTileRows;
}

void add_bias(const float* bias, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] += bias[i];
}

}  // namespace

CpuExecutor::CpuExecutor(const ModelConfig& config, std::span<const float> rope_factors,
                         const PackedModel& weights, const Kernels& kernels, const ExecutorOptions& options)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      options_(options),
      group_(config.n_heads / config.n_kv_heads),
      pool_(options.n_threads),
      rope_(config, rope_factors),
      cache_(config.n_layers, config.n_kv_heads, config.head_dim, options.has_wide_keys, options.n_blocks) {
  const size_t n = options.max_step_tokens;
  tokens_.resize(n);
  logit_rows_.resize(n);
  residual_.resize(n * config.d_model);
  normed_.resize(n * config.d_model);
  q_.resize(n * config.q_dim());
  k_.resize(n * config.kv_dim());
  v_.resize(n * config.kv_dim());
  attended_.resize(n * config.q_dim());
  gate_.resize(n * config.d_ff);
  up_.resize(n * config.d_ff);
  cos_.resize(n * config.head_dim / 2);
  sin_.resize(n * config.head_dim / 2);
  logits_.resize(size_t{options.max_step_logits} * vocab_size());
  input_ = QuantRowsBuffer(n, std::max({config.d_model, config.d_ff, config.q_dim()}));
  queries_.resize(n * config.q_dim() * 2);
  query_scales_.resize(n * config.n_heads);
  query_sums_.resize(n * config.n_heads);
  tasks_.reserve(n * config.n_kv_heads);
  block_pointers_.resize(size_t{options.max_positions / kBlockTokens + 1} *
                         static_cast<size_t>(options.n_threads));
}

uint32_t CpuExecutor::vocab_size() const {
  return padded_rows(config_.vocab_size);
}

std::span<const float> CpuExecutor::step(const StepBatch& batch) noexcept {
  for (const BlockCopy& copy : batch.copies) cache_.copy(copy);
  plan(batch);
  pool_.run([&](int worker) { run_worker(worker, batch); });
  return std::span(logits_).first(size_t{n_logits_} * vocab_size());
}

// Lists the step's tokens, the attention tasks and the rows that want logits.
void CpuExecutor::plan(const StepBatch& batch) {
  n_tokens_ = 0;
  n_logits_ = 0;
  tasks_.clear();
  const uint32_t tokens_per_task = kAttentionRows / group_;
  for (uint32_t c = 0; c < batch.chunks.size(); ++c) {
    const SequenceChunk& chunk = batch.chunks[c];
    const auto n = static_cast<uint32_t>(chunk.tokens.size());
    QWICK_CHECK(n_tokens_ + n <= options_.max_step_tokens);
    QWICK_CHECK(chunk.position + n <= options_.max_positions);
    QWICK_CHECK(chunk.position + n <= chunk.blocks.size() * kBlockTokens);
    QWICK_CHECK(n_logits_ + chunk.n_logits <= options_.max_step_logits);
    for (uint32_t first = 0; first < n; first += tokens_per_task) {
      for (uint32_t head = 0; head < config_.n_kv_heads; ++head) {
        tasks_.push_back({c, head, n_tokens_ + first, std::min(tokens_per_task, n - first)});
      }
    }
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t position = chunk.position + i;
      tokens_[n_tokens_ + i] = {chunk.tokens[i], position, chunk.blocks[position / kBlockTokens]};
    }
    n_tokens_ += n;
    for (uint32_t i = 0; i < chunk.n_logits; ++i) logit_rows_[n_logits_++] = n_tokens_ - chunk.n_logits + i;
  }
}

void CpuExecutor::run_worker(int worker, const StepBatch& batch) {
  const size_t d_model = config_.d_model;
  const size_t half = config_.head_dim / 2;
  const auto mine = pool_.share(n_tokens_, worker);
  for (size_t t = mine.begin; t < mine.end; ++t) {
    unpack_row(weights_.embedding, static_cast<uint32_t>(tokens_[t].id),
               std::span(residual_).subspan(t * d_model, d_model));
    rope_.angles(tokens_[t].position, std::span(cos_).subspan(t * half, half),
                 std::span(sin_).subspan(t * half, half));
  }

  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    const PackedLayer& layer = weights_.layers[i];
    normalize(worker, layer.attn_norm);
    pool_.barrier();
    multiply(worker,
             std::array<Product, 3>{{{&layer.wq, q_.data(), config_.q_dim()},
                                     {&layer.wk, k_.data(), config_.kv_dim()},
                                     {&layer.wv, v_.data(), config_.kv_dim()}}},
             input_.view(d_model), n_tokens_, false);
    pool_.barrier();
    prepare_attention(worker, i);
    if (worker == 0) next_task_.store(0, std::memory_order_relaxed);
    pool_.barrier();
    attend(worker, i, batch);
    pool_.barrier();
    requantize(worker, attended_.data(), config_.q_dim());
    pool_.barrier();
    multiply(worker, std::array<Product, 1>{{{&layer.wo, residual_.data(), d_model}}},
             input_.view(config_.q_dim()), n_tokens_, true);
    pool_.barrier();
    normalize(worker, layer.mlp_norm);
    pool_.barrier();
    multiply(worker,
             std::array<Product, 2>{
                 {{&layer.w_gate, gate_.data(), config_.d_ff}, {&layer.w_up, up_.data(), config_.d_ff}}},
             input_.view(d_model), n_tokens_, false);
    pool_.barrier();
    activate(worker);
    pool_.barrier();
    requantize(worker, gate_.data(), config_.d_ff);
    pool_.barrier();
    multiply(worker, std::array<Product, 1>{{{&layer.w_down, residual_.data(), d_model}}},
             input_.view(config_.d_ff), n_tokens_, true);
    pool_.barrier();
  }

  const auto rows = pool_.share(n_logits_, worker);
  for (size_t i = rows.begin; i < rows.end; ++i)
    normalize_row(logit_rows_[i], weights_.final_norm, static_cast<uint32_t>(i));
  pool_.barrier();
  multiply(worker, std::array<Product, 1>{{{&weights_.lm_head, logits_.data(), vocab_size()}}},
           input_.view(d_model), n_logits_, false);
}

// All products of one operation, their tiles shared out by bytes: contiguous runs, so that each worker
// streams its own part of the weights.
void CpuExecutor::multiply(int worker, std::span<const Product> products, const QuantRows& x,
                           uint32_t n_tokens, bool accumulate) {
  if (n_tokens == 0) return;
  size_t total = 0;
  for (const Product& product : products) {
    total += product.w->n_rows / kTileRows * tile_bytes(product.w->format, product.w->n_cols);
  }
  const auto mine = pool_.share(total, worker);
  size_t start = 0;
  for (const Product& product : products) {
    const size_t bytes = tile_bytes(product.w->format, product.w->n_cols);
    const size_t n_tiles = product.w->n_rows / kTileRows;
    const auto tile_at = [&](size_t byte) {  // the first tile that starts at or after this byte
      return static_cast<uint32_t>(byte <= start ? 0 : std::min(n_tiles, (byte - start + bytes - 1) / bytes));
    };
    const uint32_t begin = tile_at(mine.begin);
    const uint32_t end = tile_at(mine.end);
    if (begin < end) {
      kernels_.matmul(product.w, begin, end, &x, n_tokens, product.y, product.y_stride, accumulate ? 1 : 0);
    }
    start += n_tiles * bytes;
  }
}

// Row `row` of input_ = quantised RMSNorm of a token's residual stream.
void CpuExecutor::normalize_row(size_t token, const float* weight, uint32_t row) {
  const size_t d_model = config_.d_model;
  const QuantRows to = input_.view(d_model);
  float* normed = &normed_[row * d_model];
  kernels_.rms_norm(&residual_[token * d_model], weight, config_.d_model, config_.rms_norm_eps, normed);
  kernels_.quantize(normed, &to, row);
}

void CpuExecutor::normalize(int worker, const float* weight) {
  const auto mine = pool_.share(n_tokens_, worker);
  for (size_t t = mine.begin; t < mine.end; ++t) normalize_row(t, weight, static_cast<uint32_t>(t));
}

// input_ = quantised x [n_tokens, n_cols].
void CpuExecutor::requantize(int worker, const float* x, size_t n_cols) {
  const auto mine = pool_.share(n_tokens_, worker);
  const QuantRows to = input_.view(n_cols);
  for (size_t t = mine.begin; t < mine.end; ++t)
    kernels_.quantize(x + t * n_cols, &to, static_cast<uint32_t>(t));
}

// Biases, QK-norm and RoPE; keys and values into the cache, queries quantised by key/value head.
void CpuExecutor::prepare_attention(int worker, size_t layer_index) {
  const PackedLayer& layer = weights_.layers[layer_index];
  const size_t head_dim = config_.head_dim;
  const float query_scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
  // One unit of work: a token's key/value head with the query heads that share it.
  const auto mine = pool_.share(size_t{n_tokens_} * config_.n_kv_heads, worker);
  for (size_t unit = mine.begin; unit < mine.end; ++unit) {
    const size_t t = unit / config_.n_kv_heads;
    const size_t kv_head = unit % config_.n_kv_heads;
    const float* cos = &cos_[t * head_dim / 2];
    const float* sin = &sin_[t * head_dim / 2];
    const auto turn = [&](float* head, const float* norm) {
      if (norm != nullptr) kernels_.rms_norm(head, norm, config_.head_dim, config_.rms_norm_eps, head);
      kernels_.rotate(head, cos, sin, config_.head_dim);
    };

    float* key = &k_[t * config_.kv_dim() + kv_head * head_dim];
    float* value = &v_[t * config_.kv_dim() + kv_head * head_dim];
    if (layer.bk != nullptr) add_bias(layer.bk + kv_head * head_dim, key, head_dim);
    if (layer.bv != nullptr) add_bias(layer.bv + kv_head * head_dim, value, head_dim);
    turn(key, layer.k_norm);
    const float* key_sizes = layer.key_sizes + kv_head * head_dim;
    for (size_t d = 0; d < head_dim; ++d) key[d] /= key_sizes[d];
    cache_.write(static_cast<uint32_t>(layer_index), static_cast<uint32_t>(kv_head), tokens_[t].block,
                 tokens_[t].position % kBlockTokens, {key, head_dim}, {value, head_dim});

    for (size_t g = 0; g < group_; ++g) {
      const size_t head = kv_head * group_ + g;
      float* query = &q_[t * config_.q_dim() + head * head_dim];
      if (layer.bq != nullptr) add_bias(layer.bq + head * head_dim, query, head_dim);
      turn(query, layer.q_norm);
      const size_t row = (kv_head * n_tokens_ + t) * group_ + g;
      kernels_.quantize_wide(query, key_sizes, config_.head_dim, query_scale, &queries_[row * 2 * head_dim],
                             &query_scales_[row], &query_sums_[row]);
    }
  }
}

// Tasks are taken as workers come free; which worker has which changes no result.
void CpuExecutor::attend(int worker, size_t layer, const StepBatch& batch) {
  const size_t head_dim = config_.head_dim;
  const uint8_t** blocks = &block_pointers_[block_pointers_.size() / static_cast<size_t>(pool_.n_threads()) *
                                            static_cast<size_t>(worker)];
  uint32_t n_visible[kAttentionRows];
  float* out[kAttentionRows];
  for (uint32_t i; (i = next_task_.fetch_add(1, std::memory_order_relaxed)) < tasks_.size();) {
    const AttentionTask& task = tasks_[i];
    const uint32_t n_rows = task.n_tokens * group_;
    for (uint32_t row = 0; row < n_rows; ++row) {
      const uint32_t t = task.first_token + row / group_;
      n_visible[row] = tokens_[t].position + 1;
      out[row] = &attended_[size_t{t} * config_.q_dim() + (task.kv_head * group_ + row % group_) * head_dim];
    }
    const std::span<const int32_t> table = batch.chunks[task.chunk].blocks;
    const uint32_t n_blocks = (n_visible[n_rows - 1] + kBlockTokens - 1) / kBlockTokens;
    for (uint32_t b = 0; b < n_blocks; ++b)
      blocks[b] = cache_.head_block(static_cast<uint32_t>(layer), task.kv_head, table[b]);
    const size_t first_row = (size_t{task.kv_head} * n_tokens_ + task.first_token) * group_;
    const AttentionWork work = {&queries_[first_row * 2 * head_dim],
                                &query_scales_[first_row],
                                &query_sums_[first_row],
                                n_rows,
                                config_.head_dim,
                                cache_.has_wide_keys(),
                                n_visible,
                                blocks,
                                out};
    kernels_.attend(&work);
  }
}

// gate_ = SiLU(gate) * up.
void CpuExecutor::activate(int worker) {
  const auto mine = pool_.share(size_t{n_tokens_} * config_.d_ff / kGroup, worker);
  const size_t begin = mine.begin * kGroup;
  kernels_.silu_multiply(&gate_[begin], &up_[begin], (mine.end - mine.begin) * kGroup);
}

}  // namespace qwick
