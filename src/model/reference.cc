#include "model/reference.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "format/dequantize.h"

namespace qwick {
namespace {

std::vector<float> to_f32(const TensorView& view) {
  std::vector<float> values(view.data.empty() ? 0 : view.n_elements());
  if (!values.empty()) dequantize(view.dtype, view.data, values);
  return values;
}

// Sixteen partial sums, added up in a fixed order: fast without leave to reorder, and the same for
// every caller.
float dot(const float* a, const float* b, size_t n) {
  constexpr size_t kLanes = 16;
  float sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (size_t lane = 0; i + lane < n; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

void add(std::span<const float> x, std::span<float> y) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += x[i];
}

// Turns scores into weights that sum to one.
void softmax(std::span<float> x) {
  const float max = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (float& value : x) {
    value = std::exp(value - max);
    sum += value;
  }
  for (float& value : x) value /= sum;
}

}  // namespace

ReferenceCache::ReferenceCache(const ModelConfig& config, uint32_t n_blocks)
    : n_layers_(config.n_layers), kv_dim_(config.kv_dim()), blocks_(n_blocks) {}

float* ReferenceCache::key(size_t layer, std::span<const int32_t> blocks, size_t position) const {
  const std::vector<float>& block = blocks_[static_cast<size_t>(blocks[position / kBlockTokens])];
  return const_cast<float*>(&block[(layer * 2 * kBlockTokens + position % kBlockTokens) * kv_dim_]);
}

void ReferenceCache::prepare(int32_t block) {
  blocks_[static_cast<size_t>(block)].resize(n_layers_ * 2 * kBlockTokens * kv_dim_);
}

Reference::Reference(const Model& model, int n_threads)
    : model_(model),
      config_(model.config()),
      pool_(n_threads),
      rope_(model.config(), to_f32(model.weights().rope_factors)),
      final_norm_(to_f32(model.weights().final_norm)),
      worker_row_(static_cast<size_t>(n_threads)),
      worker_scores_(static_cast<size_t>(n_threads)) {
  for (const LayerWeights& layer : model.weights().layers) {
    vectors_.push_back({to_f32(layer.attn_norm), to_f32(layer.bq), to_f32(layer.bk), to_f32(layer.bv),
                        to_f32(layer.q_norm), to_f32(layer.k_norm), to_f32(layer.bo), to_f32(layer.mlp_norm),
                        to_f32(layer.b_gate), to_f32(layer.b_up), to_f32(layer.b_down)});
  }
}

void Reference::forward(std::span<const ReferenceChunk> chunks, ReferenceCache& cache,
                        std::span<float> logits) {
  const size_t d_model = config_.d_model;
  const Weights& weights = model_.weights();

  n_rows_ = 0;
  for (const ReferenceChunk& chunk : chunks) n_rows_ += chunk.tokens.size();
  residual_.resize(n_rows_ * d_model);
  normed_.resize(n_rows_ * d_model);

  size_t row = 0;
  for (const ReferenceChunk& chunk : chunks) {
    QWICK_CHECK(chunk.position + chunk.tokens.size() <= chunk.blocks.size() * ReferenceCache::kBlockTokens);
    for (size_t i = 0; i < chunk.tokens.size(); ++i) {
      cache.prepare(chunk.blocks[(chunk.position + i) / ReferenceCache::kBlockTokens]);
    }
    for (const int32_t token : chunk.tokens) {
      QWICK_CHECK(token >= 0 && static_cast<uint32_t>(token) < config_.vocab_size);
      dequantize(weights.embedding.dtype, weights.embedding.row(static_cast<uint64_t>(token)),
                 std::span(residual_).subspan(row++ * d_model, d_model));
    }
  }

  for (size_t layer = 0; layer < config_.n_layers; ++layer) {
    attention_block(layer, chunks, cache);
    mlp_block(layer);
  }

  // Only the rows that are asked for reach the output head.
  Buffer last;
  row = 0;
  for (const ReferenceChunk& chunk : chunks) {
    row += chunk.tokens.size();
    for (size_t i = row - chunk.n_logits; i < row; ++i) {
      last.resize(last.size() + d_model);
      rms_norm({&residual_[i * d_model], d_model}, final_norm_, std::span(last).last(d_model));
    }
  }
  Buffer result;
  matmul(weights.lm_head, {}, last, result);
  QWICK_CHECK(result.size() == logits.size());
  std::copy(result.begin(), result.end(), logits.begin());
}

// residual += Wo attention(RoPE(norm(Wq h)), RoPE(norm(Wk h)), Wv h) with h = norm(residual)
void Reference::attention_block(size_t layer, std::span<const ReferenceChunk> chunks, ReferenceCache& cache) {
  const LayerWeights& weights = model_.weights().layers[layer];
  const LayerVectors& vectors = vectors_[layer];
  const size_t head_dim = config_.head_dim;

  for (size_t row = 0; row < n_rows_; ++row) {
    const size_t at = row * config_.d_model;
    rms_norm({&residual_[at], config_.d_model}, vectors.attn_norm, {&normed_[at], config_.d_model});
  }
  matmul(weights.wq, vectors.bq, normed_, q_);
  matmul(weights.wk, vectors.bk, normed_, k_);
  matmul(weights.wv, vectors.bv, normed_, v_);
  attended_.resize(q_.size());

  size_t first_row = 0;
  for (const ReferenceChunk& chunk : chunks) {
    Buffer cos(head_dim / 2);
    Buffer sin(head_dim / 2);
    for (size_t i = 0; i < chunk.tokens.size(); ++i) {
      rope_.angles(chunk.position + static_cast<uint32_t>(i), cos, sin);
      const auto prepare = [&](Buffer& heads, size_t n_heads, const Buffer& norm) {
        for (size_t head = 0; head < n_heads; ++head) {
          const std::span<float> x(&heads[((first_row + i) * n_heads + head) * head_dim], head_dim);
          if (!norm.empty()) rms_norm(x, norm, x);
          rope_.rotate(x, cos, sin);
        }
      };
      prepare(q_, config_.n_heads, vectors.q_norm);
      prepare(k_, config_.n_kv_heads, vectors.k_norm);
    }
    attend(layer, chunk, first_row, cache);
    first_row += chunk.tokens.size();
  }

  matmul(weights.wo, vectors.bo, attended_, projected_);
  add(projected_, residual_);
}

// Causal attention of a chunk's tokens over the sequence so far, themselves included.
void Reference::attend(size_t layer, const ReferenceChunk& chunk, size_t first_row, ReferenceCache& cache) {
  const size_t head_dim = config_.head_dim;
  const size_t kv_dim = config_.kv_dim();
  const size_t n_new = chunk.tokens.size();
  const size_t group = config_.n_heads / config_.n_kv_heads;  // query heads that share a key/value head
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_dim));

  for (size_t i = 0; i < n_new; ++i) {
    std::copy_n(&k_[(first_row + i) * kv_dim], kv_dim, cache.key(layer, chunk.blocks, chunk.position + i));
    std::copy_n(&v_[(first_row + i) * kv_dim], kv_dim, cache.value(layer, chunk.blocks, chunk.position + i));
  }

  pool_.parallel_for(n_new * config_.n_heads, [&](int worker, size_t begin, size_t end) {
    Buffer& scores = worker_scores_[static_cast<size_t>(worker)];
    for (size_t task = begin; task < end; ++task) {
      const size_t i = task / config_.n_heads;
      const size_t head = task % config_.n_heads;
      const size_t n_seen = chunk.position + i + 1;
      const size_t kv_at = head / group * head_dim;
      const size_t q_at = ((first_row + i) * config_.n_heads + head) * head_dim;

      scores.resize(n_seen);
      for (size_t j = 0; j < n_seen; ++j) {
        scores[j] = dot(&q_[q_at], cache.key(layer, chunk.blocks, j) + kv_at, head_dim) * scale;
      }
      softmax(scores);

      float* out = &attended_[q_at];
      std::fill_n(out, head_dim, 0.0F);
      for (size_t j = 0; j < n_seen; ++j) {
        const float* value = cache.value(layer, chunk.blocks, j) + kv_at;
        for (size_t d = 0; d < head_dim; ++d) out[d] += scores[j] * value[d];
      }
    }
  });
}

// residual += W_down (SiLU(W_gate h) * (W_up h)) with h = norm(residual)
void Reference::mlp_block(size_t layer) {
  const LayerWeights& weights = model_.weights().layers[layer];
  const LayerVectors& vectors = vectors_[layer];

  for (size_t row = 0; row < n_rows_; ++row) {
    const size_t at = row * config_.d_model;
    rms_norm({&residual_[at], config_.d_model}, vectors.mlp_norm, {&normed_[at], config_.d_model});
  }
  matmul(weights.w_gate, vectors.b_gate, normed_, gate_);
  matmul(weights.w_up, vectors.b_up, normed_, up_);
  for (size_t i = 0; i < gate_.size(); ++i) gate_[i] = gate_[i] / (1.0F + std::exp(-gate_[i])) * up_[i];
  matmul(weights.w_down, vectors.b_down, gate_, projected_);
  add(projected_, residual_);
}

void Reference::matmul(const TensorView& w, const Buffer& bias, const Buffer& x, Buffer& y) {
  const size_t n_out = w.shape[0];
  const size_t n_in = w.shape[1];
  const size_t n_x = x.size() / n_in;
  y.resize(n_x * n_out);
  pool_.parallel_for(n_out, [&](int worker, size_t begin, size_t end) {
    Buffer& row = worker_row_[static_cast<size_t>(worker)];
    row.resize(n_in);
    for (size_t out = begin; out < end; ++out) {
      dequantize(w.dtype, w.row(out), row);
      for (size_t i = 0; i < n_x; ++i) {
        y[i * n_out + out] = dot(&x[i * n_in], row.data(), n_in) + (bias.empty() ? 0.0F : bias[out]);
      }
    }
  });
}

void Reference::rms_norm(std::span<const float> x, const Buffer& weight, std::span<float> y) const {
  const float mean_square = dot(x.data(), x.data(), x.size()) / static_cast<float>(x.size());
  const float scale = 1.0F / std::sqrt(mean_square + config_.rms_norm_eps);
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
}

}  // namespace qwick
