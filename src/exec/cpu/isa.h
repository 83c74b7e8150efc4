// Which kernels run: the best that this processor has, or what QWICK_ISA names.
#pragma once

#include <span>
#include <string_view>

#include "exec/cpu/kernels.h"

namespace qwick {

// All that this processor can run, best first; the last is "scalar".
std::span<const Kernels* const> available_kernels();

// The best one, or the one that the environment variable QWICK_ISA names. Throws Error
// kInvalidArgument when there is none of this name or the processor lacks it, listing those there are.
const Kernels& choose_kernels();

}  // namespace qwick
