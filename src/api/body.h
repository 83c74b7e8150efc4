// The JSON of a request body. Bodies are hostile: time is in proportion to their size (ordered_json's
// own parser is quadratic in the members of an object), depth is bounded, and a name that comes twice
// in an object is refused, since readers differ about which one counts.
#pragma once

#include <string_view>

#include "base/json.h"

namespace qwick::api {

// Throws ApiError 400 where it is no valid JSON; the message quotes nothing of the body.
Json parse_body(std::string_view body);

}  // namespace qwick::api
