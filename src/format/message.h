// Names that come from files, made safe to print in a one-line message.
// Used wherever format/ and model/ report an Error.
#pragma once

#include <string>
#include <string_view>

namespace qwick {

// The name in double quotes: control characters, quotes and non-ASCII bytes as \xNN, cut after 80 bytes.
std::string in_quotes(std::string_view name);

}  // namespace qwick
