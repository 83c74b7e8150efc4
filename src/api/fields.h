// Typed access to the members of a JSON object in a request: absent and null are the same, anything
// of the wrong type or out of range is an ApiError 400 that names the field by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace qwick::api {

// "a string", "an object": for messages.
std::string_view json_kind(const Json& value);

// A list of token ids; `path` names it in errors. Ids beyond the vocabulary are the caller's to refuse.
std::vector<int32_t> parse_token_ids(const Json& value, const std::string& path);

class Fields {
 public:
  // `path` is the object's own place, "" for the request itself. Throws where it is no object.
  // The object must outlive this.
  Fields(const Json& object, std::string path);

  const Json* find(std::string_view name) const;  // nullptr: absent or null
  std::string path(std::string_view name) const;  // "messages[2].content"

  std::optional<bool> boolean(std::string_view name) const;
  std::optional<std::string> string(std::string_view name) const;
  // Inclusive bounds. NaN and infinity never pass.
  std::optional<double> number(std::string_view name, double min, double max) const;
  std::optional<int64_t> integer(std::string_view name, int64_t min, int64_t max) const;

 private:
  const Json& object_;
  std::string path_;
};

}  // namespace qwick::api
