#include "model/json_fields.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "format/message.h"

namespace qwick {
namespace {

// Objects of this JSON type look keys up one by one: the bound keeps a hostile file's time small.
constexpr size_t kMaxConfigBytes = 1 << 18;

// A value as a message shows it: short, ASCII.
std::string shown(const Json& value) {
  constexpr size_t kLongest = 40;
  std::string text = value.is_structured() ? std::string(value.is_array() ? "a list" : "an object")
                                           : value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

struct NonFinite {
  std::string field;
  std::string_view literal;
};

// The first NaN or Infinity outside strings, and the last key before it.
std::optional<NonFinite> find_non_finite(std::string_view text) {
  std::string_view last_string;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const size_t begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      const size_t after = text.find_first_not_of(" \t\r\n", i + 1 < text.size() ? i + 1 : text.size());
      if (after != std::string_view::npos && text[after] == ':') last_string = text.substr(begin, i - begin);
    }
    for (const std::string_view literal : {"NaN", "-Infinity", "Infinity"}) {
      if (i < text.size() && text.substr(i).starts_with(literal))
        return NonFinite{std::string(last_string), literal};
    }
  }
  return std::nullopt;
}

}  // namespace

Json parse_config_json(std::string_view text, const std::string& source) {
  if (text.size() > kMaxConfigBytes) {
    invalid_file("{}: {} bytes, more than {}", source, text.size(), kMaxConfigBytes);
  }
  Json json;
  try {
    json = parse_json(text, source);
  } catch (const Error&) {
    if (const auto found = find_non_finite(text)) {
      invalid_file("{}: field {} is {}, must be a finite number", source, in_quotes(found->field),
                   found->literal);
    }
    throw;
  }
  if (!json.is_object()) invalid_file("{}: must hold a JSON object", source);
  return json;
}

void JsonFields::wrong(std::string_view field, std::string_view wanted) const {
  invalid_file("{} must be {}, found {}", label(field), wanted, shown(object_->at(std::string(field))));
}

void JsonFields::missing(std::string_view field) const {
  invalid_file("{} is missing", label(field));
}

const Json* JsonFields::find(std::string_view field) const {
  const auto found = object_->find(std::string(field));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<uint64_t> JsonFields::find_uint(std::string_view field, uint64_t min, uint64_t max) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) {
    const auto number = value->get<uint64_t>();
    if (number >= min && number <= max) return number;
  }
  wrong(field, fmt::format("a whole number from {} to {}", min, max));
}

uint64_t JsonFields::get_uint(std::string_view field, uint64_t min, uint64_t max) const {
  const auto value = find_uint(field, min, max);
  if (!value) missing(field);
  return *value;
}

std::optional<double> JsonFields::find_number(std::string_view field, Range range) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const auto number = value->get<double>();
    if (std::isfinite(number) && (range.open_min ? number > range.min : number >= range.min) &&
        number <= range.max) {
      return number;
    }
  }
  wrong(field, fmt::format("a number {} {}, at most {}", range.open_min ? "above" : "of at least", range.min,
                           range.max));
}

double JsonFields::get_number(std::string_view field, Range range) const {
  const auto value = find_number(field, range);
  if (!value) missing(field);
  return *value;
}

std::optional<bool> JsonFields::find_bool(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) wrong(field, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonFields::find_string(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) wrong(field, "a string");
  return value->get<std::string>();
}

std::optional<std::vector<int32_t>> JsonFields::find_ids(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  std::vector<int32_t> ids;
  const auto add = [&](const Json& id) {
    const bool valid = id.is_number_unsigned() && id.get<uint64_t>() <= std::numeric_limits<int32_t>::max();
    if (!valid) invalid_file("{} must hold token ids, found {}", label(field), shown(id));
    ids.push_back(id.get<int32_t>());
  };
  if (value->is_array()) {
    for (const Json& id : *value) add(id);
  } else {
    add(*value);
  }
  return ids;
}

std::optional<JsonFields> JsonFields::find_object(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) wrong(field, "an object");
  return JsonFields(*value, source_, prefix_ + std::string(field) + ".");
}

}  // namespace qwick
