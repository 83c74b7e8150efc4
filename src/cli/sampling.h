// --sampling: what holds where a request says nothing about sampling.
#pragma once

#include <string_view>

#include "model/config.h"

namespace qwick::cli {

// "temperature=0.7,top_p=0.8" over the model's own defaults; with a temperature the model samples whatever it
// said before. Throws Error kInvalidArgument naming what is wrong.
GenerationDefaults with_sampling(GenerationDefaults defaults, std::string_view text);

}  // namespace qwick::cli
