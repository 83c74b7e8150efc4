#include "exec/cpu/packed_model.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "format/dequantize.h"

namespace qwick {
namespace {

// Goes through a model's tensors in a fixed order, each with its place behind the one before: to add up
// what they need, to fill it, or to find it filled.
class Packer {
 public:
  Packer(const Model& model, QuantFormat wanted, ThreadPool* pool)
      : model_(model), config_(model.config()), wanted_(wanted), pool_(pool) {}

  PackedLayout measure() {
    visit();
    return {n_matrix_bytes_, n_matrix_bytes_ + n_vector_floats_ * sizeof(float), hash_};
  }
  PackedModel pack(const PackedLayout& layout) {
    AlignedBytes bytes(layout.n_bytes);
    writable_ = bytes.data();
    packed_.storage = std::move(bytes);
    return view({writable_, layout.n_bytes}, layout);
  }
  PackedModel view(std::span<const uint8_t> payload, const PackedLayout& layout) {
    packed_.payload = payload;
    n_all_matrix_bytes_ = layout.n_matrix_bytes;
    visit();
    return std::move(packed_);
  }

 private:
  void visit() {
    const Weights& weights = model_.weights();
    packed_.embedding = matrix(weights.embedding);
    packed_.lm_head = config_.tied_embeddings ? packed_.embedding : matrix(weights.lm_head);
    packed_.final_norm = vector(weights.final_norm);
    packed_.layers.resize(weights.layers.size());
    for (size_t i = 0; i < weights.layers.size(); ++i) {
      const LayerWeights& from = weights.layers[i];
      PackedLayer& to = packed_.layers[i];
      const RowOrder order = config_.interleaved_rope ? RowOrder::kPairsToHalves : RowOrder::kAsStored;
      to.attn_norm = vector(from.attn_norm);
      to.wq = matrix(from.wq, order);
      to.wk = matrix(from.wk, order);
      to.wv = matrix(from.wv);
      to.bq = vector(from.bq, order);
      to.bk = vector(from.bk, order);
      to.bv = vector(from.bv);
      to.q_norm = vector(from.q_norm);
      to.k_norm = vector(from.k_norm);
      to.key_sizes = key_sizes(from, order);
      to.wo = matrix(from.wo);
      to.mlp_norm = vector(from.mlp_norm);
      to.w_gate = matrix(from.w_gate);
      to.w_up = matrix(from.w_up);
      to.w_down = matrix(from.w_down);
      if (writable_ != nullptr) {
        for (const MappedFile& file : model_.weight_files()) file.drop_pages();  // not needed again
      }
    }
  }

  QuantMatrix matrix(const TensorView& tensor, RowOrder order = RowOrder::kAsStored) {
    const auto n_cols = static_cast<uint32_t>(tensor.shape[1]);
    const auto n_tiles = static_cast<uint32_t>((tensor.shape[0] + kTileRows - 1) / kTileRows);
    const QuantFormat format = run_time_format(tensor.dtype, wanted_);
    const uint64_t at = n_matrix_bytes_;
    n_matrix_bytes_ += n_tiles * tile_bytes(format, n_cols);
    add_to_hash(static_cast<uint64_t>(format) << 32 | n_cols, tensor.shape[0]);
    if (writable_ != nullptr) pack_matrix(tensor, format, order, config_.head_dim, *pool_, writable_ + at);
    return {is_measuring() ? nullptr : packed_.payload.data() + at, n_tiles * kTileRows, n_cols, format};
  }

  const float* vector(const TensorView& tensor, RowOrder order = RowOrder::kAsStored) {
    if (tensor.data.empty()) {
      add_to_hash(0, 0);
      return nullptr;
    }
    return vector(tensor.n_elements(), [&](std::span<float> out) {
      const std::vector<float> values = floats(tensor);
      for (uint32_t i = 0; i < out.size(); ++i) out[i] = values[stored_row(i, order, config_.head_dim)];
    });
  }

  // n numbers that `fill` writes into the span that it is given.
  template <typename Fill>
  const float* vector(size_t n, Fill fill) {
    const size_t at = n_all_matrix_bytes_ + n_vector_floats_ * sizeof(float);
    n_vector_floats_ += n;
    add_to_hash(n, 0);
    if (writable_ != nullptr) fill(std::span(reinterpret_cast<float*>(writable_ + at), n));
    return is_measuring() ? nullptr : reinterpret_cast<const float*>(packed_.payload.data() + at);
  }

  bool is_measuring() const { return packed_.payload.empty(); }

  void add_to_hash(uint64_t a, uint64_t b) {
    const uint64_t numbers[] = {hash_, a, b};
    hash_ = XXH3_64bits(numbers, sizeof numbers);
  }

  const float* key_sizes(const LayerWeights& layer, RowOrder order) {
    return vector(config_.kv_dim(), [&](std::span<float> out) { fill_key_sizes(layer, order, out); });
  }

  // The root mean square that a key's dimension has over inputs that are white after their norm. Some
  // dimensions are a hundred times larger than others (above all where k has a bias) and would take all
  // of the cache's 8 bits. The two dimensions that RoPE turns into one another share their size.
  void fill_key_sizes(const LayerWeights& layer, RowOrder order, std::span<float> out) const {
    const std::vector<float> attn_norm = floats(layer.attn_norm);
    const std::vector<float> bias = floats(layer.bk);
    const std::vector<float> k_norm = floats(layer.k_norm);
    const uint32_t head_dim = config_.head_dim;
    std::vector<double> squares(head_dim);
    std::vector<float> row(config_.d_model);
    for (uint32_t head = 0; head < config_.n_kv_heads; ++head) {
      double mean = 0;
      for (uint32_t d = 0; d < head_dim; ++d) {
        const uint32_t stored = stored_row(head * head_dim + d, order, head_dim);
        dequantize(layer.wk.dtype, layer.wk.row(stored), row);
        squares[d] = bias.empty() ? 0 : static_cast<double>(bias[stored]) * bias[stored];
        for (uint32_t col = 0; col < config_.d_model; ++col) {
          const double x = static_cast<double>(row[col]) * attn_norm[col];
          squares[d] += x * x;
        }
        mean += squares[d] / head_dim;
      }
      for (uint32_t d = 0; d < head_dim; ++d) {
        squares[d] = mean > 0 ? squares[d] / mean : 1;
        if (!k_norm.empty()) squares[d] *= static_cast<double>(k_norm[d]) * k_norm[d];
      }
      for (uint32_t d = 0; d < head_dim; ++d) {
        constexpr double kLeast = 1e-6;  // never zero
        const double pair = (squares[d] + squares[(d + head_dim / 2) % head_dim]) / 2;
        out[head * head_dim + d] = static_cast<float>(std::sqrt(std::max(pair, kLeast)));
      }
    }
  }

  static std::vector<float> floats(const TensorView& tensor) {
    if (tensor.data.empty()) return {};
    std::vector<float> values(tensor.n_elements());
    dequantize(tensor.dtype, tensor.data, values);
    return values;
  }

  const Model& model_;
  const ModelConfig& config_;
  QuantFormat wanted_;
  ThreadPool* pool_;  // for filling
  PackedModel packed_;
  uint8_t* writable_ = nullptr;  // the payload, for filling
  uint64_t n_all_matrix_bytes_ = 0;
  uint64_t n_matrix_bytes_ = 0;
  size_t n_vector_floats_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace

std::string why_not_packable(const ModelConfig& config) {
  const auto check = [](uint32_t value, const char* name) {
    return value % kGroup == 0 ? "" : fmt::format("{} {} is not a multiple of {}", name, value, kGroup);
  };
  for (const std::string& reason :
       {std::string(check(config.d_model, "d_model")), std::string(check(config.head_dim, "head_dim")),
        std::string(check(config.d_ff, "d_ff"))}) {
    if (!reason.empty()) return reason;
  }
  if (config.output_bias || config.mlp_bias) return "biases of the output and MLP matrices";
  if (config.head_dim > kMaxHeadDim)
    return fmt::format("head_dim {} is more than {}", config.head_dim, kMaxHeadDim);
  if (config.n_heads / config.n_kv_heads > kAttentionRows)
    return "more than 32 query heads share a key/value head";
  return {};
}

PackedLayout packed_layout(const Model& model, QuantFormat wanted) {
  QWICK_CHECK(why_not_packable(model.config()).empty());
  return Packer(model, wanted, nullptr).measure();
}

PackedModel pack_model(const Model& model, QuantFormat wanted, ThreadPool& pool) {
  return Packer(model, wanted, &pool).pack(packed_layout(model, wanted));
}

PackedModel view_packed_model(const Model& model, QuantFormat wanted, MappedFile file, size_t offset) {
  const PackedLayout layout = packed_layout(model, wanted);
  const std::span<const std::byte> bytes = file.bytes();
  QWICK_CHECK(offset <= bytes.size() && bytes.size() - offset == layout.n_bytes);
  const auto* payload = reinterpret_cast<const uint8_t*>(bytes.data()) + offset;
  PackedModel packed = Packer(model, wanted, nullptr).view({payload, layout.n_bytes}, layout);
  packed.storage = std::move(file);
  return packed;
}

}  // namespace qwick
