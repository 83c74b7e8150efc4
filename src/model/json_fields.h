// Typed access to the fields of a JSON object from a model's files: a null is a missing field (as in
// Python), numbers must be finite and in range, and every error names the file and the field.
// Private to model/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace qwick {

struct Range {
  double min, max;
  bool open_min = false;  // min itself is excluded
};

class JsonFields {
 public:
  // The object must outlive this. prefix: the field that holds the object, with a dot ("rope_scaling.").
  JsonFields(const Json& object, std::string source, std::string prefix = {})
      : object_(&object), source_(std::move(source)), prefix_(std::move(prefix)) {}

  const std::string& source() const { return source_; }
  std::string label(std::string_view field) const { return source_ + ": " + prefix_ + std::string(field); }

  const Json* find(std::string_view field) const;  // nothing when absent or null
  std::optional<uint64_t> find_uint(std::string_view field, uint64_t min, uint64_t max) const;
  uint64_t get_uint(std::string_view field, uint64_t min, uint64_t max) const;
  std::optional<double> find_number(std::string_view field, Range range) const;
  double get_number(std::string_view field, Range range) const;
  std::optional<bool> find_bool(std::string_view field) const;
  std::optional<std::string> find_string(std::string_view field) const;
  // A number or a list of numbers: token ids. Nothing when absent.
  std::optional<std::vector<int32_t>> find_ids(std::string_view field) const;
  // An object, as fields.
  std::optional<JsonFields> find_object(std::string_view field) const;
  const Json& object() const { return *object_; }

  [[noreturn]] void wrong(std::string_view field, std::string_view wanted) const;
  [[noreturn]] void missing(std::string_view field) const;

 private:
  const Json* object_;
  std::string source_;
  std::string prefix_;
};

// Parses a configuration file. Python's json writes NaN and Infinity, which are not JSON: the error
// names the field they stand in.
Json parse_config_json(std::string_view text, const std::string& source);

}  // namespace qwick
