// What both readers of a configuration need: bounds that no real model comes near, checks across
// fields, and names. Private to model/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/config.h"

namespace qwick {

// They keep every product of two dimensions inside 64 bits and every sum of widths inside 32.
inline constexpr uint64_t kMaxWidth = 1 << 20;  // d_model, d_ff, q_dim
inline constexpr uint64_t kMaxHeads = 1 << 12;
inline constexpr uint64_t kMaxHeadDim = 1 << 12;
inline constexpr uint64_t kMaxLayers = 1024;
inline constexpr uint64_t kMaxVocab = 1 << 22;
inline constexpr uint64_t kMaxPositions = 1 << 27;
inline constexpr double kMinEps = 1e-12;
inline constexpr double kMaxTheta = 1e15;
inline constexpr double kMaxRopeFactor = 65536;

std::optional<Architecture> find_architecture(std::string_view name);

// What no field can show alone: heads divide, pairs are whole, ranges are ordered. Throws Error
// kInvalidFile that starts with `source`.
void check_config(const ModelConfig& config, std::string_view source);

// One line of valid UTF-8; "" when it is too long to be a name.
std::string clean_model_name(std::string_view name);
// The name that a directory gives to the model in it.
std::string path_model_name(const std::string& path);

}  // namespace qwick
