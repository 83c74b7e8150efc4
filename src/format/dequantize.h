// Any tensor type to f32, exactly as the type is defined (GGML's block formats; same values as the
// Python package gguf gives).
#pragma once

#include <cstddef>
#include <span>

#include "format/tensor.h"

namespace qwick {

// out.size() elements of src, which holds exactly that many (a whole number of blocks).
void dequantize(DType dtype, std::span<const std::byte> src, std::span<float> out) noexcept;

}  // namespace qwick
