// Finds a model's tensors by their roles under the names of either kind of file, and checks what it
// finds. Called by Model::open; private to model/.
#pragma once

#include <string_view>
#include <vector>

#include "model/config.h"
#include "model/model.h"

namespace qwick {

enum class TensorNames { kHuggingFace, kGguf };

// The views are copies of those in `tensors`. `source` is the file or directory, for messages. Throws
// Error kInvalidFile naming tensors that are missing, unexpected, of the wrong shape or of a type
// that their role can't have. Tensors known to be superfluous are passed over: an output head beside
// tied embeddings, rotary tables that old versions saved.
Weights find_weights(const ModelConfig& config, const std::vector<TensorView>& tensors, TensorNames names,
                     std::string_view source);

}  // namespace qwick
