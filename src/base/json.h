// JSON as qwick reads it: bounded depth, one-line errors with the source's name, and typed access
// that names the field. nlohmann::ordered_json, since templates and tools must keep key order.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace qwick {

using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 64;
// Members of one object. A key is looked for among those before it, one by one, so that many of them
// take time with their square.
inline constexpr size_t kMaxJsonMembers = 2048;

// Parses UTF-8 JSON text. Throws Error kInvalidFile: "SOURCE: not valid JSON at byte N: ...".
Json parse_json(std::string_view text, std::string_view source, int max_depth = kMaxJsonDepth);

}  // namespace qwick
