#include "server/api_keys.h"

#include <fstream>
#include <utility>

#include "base/error.h"

namespace qwick {
namespace {

constexpr size_t kMaxKeys = 10'000;  // each request is compared with all of them

// What a header can carry, so that a key in the file is one that a client can send.
bool is_visible(std::string_view key) {
  for (const char c : key) {
    if (c <= ' ' || c > '~') return false;
  }
  return !key.empty();
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string> read_keys(const std::string& file) {
  std::ifstream stream(file);
  std::vector<std::string> keys;
  size_t n_lines = 0;
  for (std::string line; std::getline(stream, line);) {
    ++n_lines;
    const std::string_view key = trimmed(line);
    if (key.empty() || key.starts_with('#')) continue;
    if (!is_visible(key))
      fail(ErrorCode::kInvalidArgument,
           "--api-key-file {}: line {} has a blank or other character that keys can't have", file, n_lines);
    if (keys.size() == kMaxKeys)
      fail(ErrorCode::kInvalidArgument, "--api-key-file {}: more than {} keys", file, kMaxKeys);
    keys.emplace_back(key);
  }
  if (!stream.eof()) fail(ErrorCode::kIo, "--api-key-file {}: it can't be read", file);
  if (keys.empty())
    fail(ErrorCode::kInvalidArgument, "--api-key-file {}: there is no key in it; write one a line", file);
  return keys;
}

// Takes the same time for all texts of the length of `given`, so that nobody can feel their way to a key.
bool equal_in_constant_time(std::string_view given, std::string_view key) {
  size_t difference = given.size() ^ key.size();
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned char>(key.empty() ? 0 : key[i % key.size()]);
  }
  return difference == 0;
}

}  // namespace

ApiKeys::ApiKeys(std::vector<std::string> fixed, std::string file)
    : fixed_(std::move(fixed)), file_(std::move(file)) {
  for (const std::string& key : fixed_) {
    if (!is_visible(key))
      fail(ErrorCode::kInvalidArgument,
           "--api-key: a key is one or more visible ASCII characters with no blank");
  }
  reload();
}

void ApiKeys::reload() {
  if (!file_.empty()) from_file_ = read_keys(file_);
}

bool ApiKeys::knows(std::string_view given) const {
  bool known = false;
  for (const std::string& key : fixed_) known |= equal_in_constant_time(given, key);
  for (const std::string& key : from_file_) known |= equal_in_constant_time(given, key);
  return known;
}

}  // namespace qwick
