#include "format/gguf.h"

#include "base/error.h"
#include "format/gguf_reader.h"
#include "format/message.h"

namespace qwick {

GgufFile GgufFile::open(MappedFile file) {
  GgufFile gguf(std::move(file));
  GgufReader reader(gguf.name(), gguf.file_.bytes());
  gguf.version_ = reader.read_preamble();
  gguf.metadata_ = reader.read_metadata();
  gguf.tensors_ = reader.read_tensors(gguf.metadata_);
  return gguf;
}

void GgufFile::missing(std::string_view key) const {
  invalid_file("{}: metadata key {} is missing", name(), in_quotes(key));
}

void GgufFile::wrong_type(std::string_view key, std::string_view wanted) const {
  invalid_file("{}: metadata key {} must be {}", name(), in_quotes(key), wanted);
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? nullptr : &found->second;
}

std::optional<uint64_t> GgufFile::find_uint(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<uint64_t>(value)) return *number;
  if (const auto* number = std::get_if<int64_t>(value); number != nullptr && *number >= 0) {
    return static_cast<uint64_t>(*number);
  }
  wrong_type(key, "a whole number, not negative");
}

std::optional<double> GgufFile::find_float(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* number = std::get_if<uint64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<int64_t>(value)) return static_cast<double>(*number);
  wrong_type(key, "a number");
}

std::optional<bool> GgufFile::find_bool(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = std::get_if<bool>(value)) return *flag;
  wrong_type(key, "a boolean");
}

std::optional<std::string_view> GgufFile::find_string(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<std::string_view>(value)) return *text;
  wrong_type(key, "a string");
}

std::optional<std::vector<int64_t>> GgufFile::find_ints(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(value)) return *numbers;
  const auto* numbers = std::get_if<std::vector<uint64_t>>(value);
  if (numbers == nullptr) wrong_type(key, "an array of whole numbers");
  for (const uint64_t number : *numbers) {
    if (number > INT64_MAX) wrong_type(key, "an array of whole numbers below 2^63");
  }
  return std::vector<int64_t>(numbers->begin(), numbers->end());
}

std::optional<std::vector<double>> GgufFile::find_floats(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* numbers = std::get_if<std::vector<double>>(value)) return *numbers;
  wrong_type(key, "an array of floating-point numbers");
}

uint64_t GgufFile::get_uint(std::string_view key) const {
  const auto value = find_uint(key);
  if (!value) missing(key);
  return *value;
}

double GgufFile::get_float(std::string_view key) const {
  const auto value = find_float(key);
  if (!value) missing(key);
  return *value;
}

std::string_view GgufFile::get_string(std::string_view key) const {
  const auto value = find_string(key);
  if (!value) missing(key);
  return *value;
}

const std::vector<std::string_view>& GgufFile::get_strings(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) missing(key);
  if (const auto* strings = std::get_if<std::vector<std::string_view>>(value)) return *strings;
  wrong_type(key, "an array of strings");
}

}  // namespace qwick
