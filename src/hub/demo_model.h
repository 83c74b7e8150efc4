// The model of models/demo, compiled into the program (demo_files.S).
#pragma once

#include "base/file.h"

namespace qwick {

inline constexpr const char* kDemoName = "demo";

FileSet demo_model_files();

}  // namespace qwick
