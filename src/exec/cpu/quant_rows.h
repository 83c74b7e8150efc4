// Memory for rows of quantised activations (kernels.h, QuantRows).
#pragma once

#include <cstddef>

#include "base/raw_vector.h"
#include "exec/cpu/kernels.h"

namespace qwick {

class QuantRowsBuffer {
 public:
  QuantRowsBuffer() = default;
  // Holds n_rows rows of up to n_cols columns.
  QuantRowsBuffer(size_t n_rows, size_t n_cols)
      : quants_(n_rows * n_cols),
        scales_(n_rows * n_cols / kGroup),
        sums_(n_rows * n_cols / kGroup),
        n_extra_(n_rows),
        extra_groups_(n_rows * n_cols / kGroup / kExtraShare),
        extra_quants_(extra_groups_.size() * kGroup),
        extra_scales_(extra_groups_.size()),
        extra_sums_(extra_groups_.size()) {}

  QuantRows view(size_t n_cols) {
    return {static_cast<uint32_t>(n_cols),
            quants_.data(),
            scales_.data(),
            sums_.data(),
            n_extra_.data(),
            extra_groups_.data(),
            extra_quants_.data(),
            extra_scales_.data(),
            extra_sums_.data()};
  }

 private:
  RawVector<int8_t> quants_;
  RawVector<float> scales_;
  RawVector<int32_t> sums_;
  RawVector<uint16_t> n_extra_;
  RawVector<uint16_t> extra_groups_;
  RawVector<int8_t> extra_quants_;
  RawVector<float> extra_scales_;
  RawVector<int32_t> extra_sums_;
};

}  // namespace qwick
