// The results of `qwick bench serve` as one HTML page with charts: nothing else is loaded, no scripts. It is
// well-formed XML too.
#pragma once

#include <string>

#include "base/json.h"

namespace qwick {

// What is missing in `results`, or null, is left out or shown as a dash.
std::string report_html(const Json& results);

}  // namespace qwick
