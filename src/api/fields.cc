#include "api/fields.h"

#include <limits>

#include "api/errors.h"

namespace qwick::api {
std::string_view json_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

std::vector<int32_t> parse_token_ids(const Json& value, const std::string& path) {
  if (!value.is_array()) invalid_field(path, "must be a list of token ids, not {}", json_kind(value));
  std::vector<int32_t> ids;
  ids.reserve(value.size());
  for (const Json& one : value) {
    const bool is_id = one.is_number_integer() && one >= 0 && one <= std::numeric_limits<int32_t>::max();
    if (!is_id) invalid_field(fmt::format("{}[{}]", path, ids.size()), "must be a token id");
    ids.push_back(one.get<int32_t>());
  }
  return ids;
}

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (object_.is_object()) return;
  if (path_.empty()) {
    throw ApiError(400, fmt::format("the request body must be a JSON object, not {}", json_kind(object_)));
  }
  invalid_field(path_, "must be an object, not {}", json_kind(object_));
}

const Json* Fields::find(std::string_view name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string Fields::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::optional<bool> Fields::boolean(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) invalid_field(path(name), "must be true or false, not {}", json_kind(*value));
  return value->get<bool>();
}

std::optional<std::string> Fields::string(std::string_view name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) invalid_field(path(name), "must be a string, not {}", json_kind(*value));
  return value->get<std::string>();
}

std::optional<double> Fields::number(std::string_view name, double min, double max) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) invalid_field(path(name), "must be a number, not {}", json_kind(*value));
  const double number = value->get<double>();
  if (!(number >= min && number <= max)) {
    invalid_field(path(name), "must be from {} to {}, not {}", min, max, number);
  }
  return number;
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t min, int64_t max) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) {
    invalid_field(path(name), "must be an integer, not {}",
                  value->is_number() ? "a fraction" : json_kind(*value));
  }
  // A value beyond int64_t would wrap in get<int64_t>.
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  const bool wraps = value->is_number_unsigned() && value->get<uint64_t>() > kLargest;
  if (wraps || value->get<int64_t>() < min || value->get<int64_t>() > max) {
    invalid_field(path(name), "must be from {} to {}, not {}", min, max, value->dump());
  }
  return value->get<int64_t>();
}

}  // namespace qwick::api
