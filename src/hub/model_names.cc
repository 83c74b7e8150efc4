#include "hub/model_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace qwick {
namespace {

// What is in each, and that it fits the machine, is the model's own README's to say.
constexpr auto kShortNames = std::to_array<ShortName>({
    {"qwen3-0.6b", "Qwen/Qwen3-0.6B"},
    {"qwen3-0.6b:q8", "Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf"},
    {"qwen3-1.7b", "Qwen/Qwen3-1.7B"},
    {"qwen3-1.7b:q8", "Qwen/Qwen3-1.7B-GGUF:Qwen3-1.7B-Q8_0.gguf"},
    {"qwen3-4b", "Qwen/Qwen3-4B"},
    {"qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B-Instruct"},
    {"qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B-Instruct"},
    {"qwen2.5-coder-0.5b", "Qwen/Qwen2.5-Coder-0.5B-Instruct"},
    {"smollm2-135m", "HuggingFaceTB/SmolLM2-135M-Instruct"},
    {"smollm2-360m", "HuggingFaceTB/SmolLM2-360M-Instruct"},
});

constexpr std::string_view kGgufSuffix = ".gguf";
constexpr size_t kLongestName = 96;       // the hub's own limit
constexpr size_t kLongestPath = 512;      // characters
constexpr size_t kLongestFileName = 255;  // of file systems

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// The hub's rule for owners and for models. Without "--", which separates them in the cache.
bool is_repo_part(std::string_view part) {
  return !part.empty() && part.size() <= kLongestName && part.front() != '.' && part.front() != '-' &&
         part.back() != '.' && part.back() != '-' && part.find("--") == std::string_view::npos &&
         part.find("..") == std::string_view::npos &&
         std::all_of(part.begin(), part.end(), is_name_character);
}

bool is_revision(std::string_view text) {
  return is_safe_path(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_name_character(c) || c == '/'; });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

const std::string& HubName::revision_or_main() const {
  static const std::string main_branch = "main";
  return revision.empty() ? main_branch : revision;
}

std::string HubName::text() const {
  return repo + (revision.empty() ? "" : "@" + revision) + (file.empty() ? "" : ":" + file);
}

std::span<const ShortName> short_names() {
  return kShortNames;
}

std::optional<HubName> parse_hub_name(std::string_view text) {
  for (const ShortName& entry : kShortNames) {
    if (equal_ignoring_case(text, entry.name)) return parse_hub_name(entry.full_name);
  }
  HubName name;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    name.file = text.substr(colon + 1);
    if (!is_safe_path(name.file) || !name.file.ends_with(kGgufSuffix)) return std::nullopt;
    text = text.substr(0, colon);
  }
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text.ends_with(kGgufSuffix) ||
      !is_repo_part(text.substr(0, slash)) || !is_repo_part(text.substr(slash + 1))) {
    return std::nullopt;
  }
  name.repo = text;
  return name;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath) return false;
  const bool is_plain = std::all_of(path.begin(), path.end(),
                                    [](unsigned char c) { return c >= 0x20 && c != 0x7F && c != '\\'; });
  if (!is_plain) return false;
  while (true) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == ".." || part.size() > kLongestFileName) return false;
    if (part.size() == path.size()) return true;
    path.remove_prefix(part.size() + 1);
  }
}

}  // namespace qwick
