#include "hub/hub_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/error.h"

namespace qwick {
namespace {

constexpr const char* kHuggingFace = "https://huggingface.co";
constexpr const char* kModelScope = "https://www.modelscope.cn";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of the variables that is set and not empty.
template <typename... Names>
std::string first_variable(Names... names) {
  for (const char* name : {names...}) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return "";
}

bool is_true(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  constexpr auto kTrue = std::to_array<std::string_view>({"1", "ON", "YES", "TRUE"});
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

std::filesystem::path expanded(const std::string& path) {
  if (path == "~" || path.starts_with("~/")) return variable("HOME") + path.substr(1);
  return path;
}

std::string checked_endpoint(const char* name, std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const bool is_plain =
      std::all_of(url.begin(), url.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!is_plain || (!url.starts_with("http://") && !url.starts_with("https://"))) {
    fail(ErrorCode::kInvalidArgument, "{} must be an address such as {}", name, kHuggingFace);
  }
  return url;
}

std::string read_modelscope_endpoint() {
  if (std::string url = variable("MODELSCOPE_ENDPOINT"); !url.empty())
    return checked_endpoint("MODELSCOPE_ENDPOINT", std::move(url));
  const std::string domain = variable("MODELSCOPE_DOMAIN");
  return domain.empty() ? kModelScope : checked_endpoint("MODELSCOPE_DOMAIN", "https://" + domain);
}

std::filesystem::path home() {
  if (const std::string own = variable("HF_HOME"); !own.empty()) return expanded(own);
  const std::string cache = variable("XDG_CACHE_HOME");
  return (cache.empty() ? expanded("~/.cache") : expanded(cache)) / "huggingface";
}

std::string read_token() {
  std::string token = first_variable("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN");
  if (token.empty()) {
    const std::string file = variable("HF_TOKEN_PATH");
    std::ifstream stream(file.empty() ? home() / "token" : expanded(file));
    token.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  token.erase(std::find_if_not(token.rbegin(), token.rend(), is_space).base(), token.end());
  token.erase(token.begin(), std::find_if_not(token.begin(), token.end(), is_space));
  const bool is_plain =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!is_plain) fail(ErrorCode::kInvalidArgument, "HF_TOKEN holds characters that no token has");
  return token;
}

std::chrono::seconds read_timeout(std::chrono::seconds otherwise) {
  const std::string text = variable("HF_HUB_DOWNLOAD_TIMEOUT");
  if (text.empty()) return otherwise;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 1 || seconds > 3600) {
    fail(ErrorCode::kInvalidArgument, "HF_HUB_DOWNLOAD_TIMEOUT must be a number of seconds, 1 to 3600");
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

HubSource parse_hub_source(std::string_view name) {
  if (name == "auto") return HubSource::kAuto;
  if (name == "hf") return HubSource::kHuggingFace;
  if (name == "modelscope") return HubSource::kModelScope;
  fail(ErrorCode::kInvalidArgument, "--source {}: there are auto, hf and modelscope", name);
}

HubSettings HubSettings::from_environment() {
  HubSettings settings;
  settings.is_offline = is_true(first_variable("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
  const std::string endpoint = variable("HF_ENDPOINT");
  settings.endpoint = endpoint.empty() ? kHuggingFace : checked_endpoint("HF_ENDPOINT", endpoint);
  settings.modelscope_endpoint = read_modelscope_endpoint();
  settings.token = read_token();
  const std::string cache = first_variable("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE");
  settings.cache = cache.empty() ? home() / "hub" : expanded(cache);
  settings.timeout = read_timeout(settings.timeout);
  return settings;
}

}  // namespace qwick
