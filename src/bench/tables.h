// The results of `qwick bench serve` as text for a terminal.
#pragma once

#include <string>

#include "base/json.h"

namespace qwick {

std::string text_tables(const Json& results);

}  // namespace qwick
