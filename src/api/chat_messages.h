// The messages of a chat request, checked and brought into the one form that chat templates know.
#pragma once

#include "api/fields.h"
#include "base/json.h"

namespace qwick::api {

// Reads the field "messages". Content parts are concatenated, null content becomes "", the role
// "developer" becomes "system"; members that no template knows are dropped.
Json parse_messages(const Fields& request);

}  // namespace qwick::api
