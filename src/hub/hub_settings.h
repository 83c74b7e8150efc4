// Where models come from and where they are kept, from the environment that huggingface_hub reads too,
// and from the options --source and --offline. Made once by a command, read by all of hub/.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace qwick {

enum class HubSource {
  kAuto,  // Hugging Face, and ModelScope where that can't be reached
  kHuggingFace,
  kModelScope,
};

// "auto", "hf" or "modelscope"; throws Error kInvalidArgument.
HubSource parse_hub_source(std::string_view name);

struct HubSettings {
  HubSource source = HubSource::kAuto;
  bool is_offline = false;
  std::string endpoint;              // of Hugging Face or a mirror of it, without a slash at its end
  std::string modelscope_endpoint;   // the same for ModelScope
  std::string token;                 // sent to `endpoint` alone; "": none
  std::filesystem::path cache;       // laid out as huggingface_hub does; see hub/hub_cache.h
  std::chrono::seconds timeout{20};  // without a byte arriving

  // HF_ENDPOINT, HF_TOKEN or its file, HF_HUB_CACHE, HF_HOME, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT;
  // MODELSCOPE_ENDPOINT, MODELSCOPE_DOMAIN. Throws Error kInvalidArgument for values that make no sense.
  static HubSettings from_environment();
};

}  // namespace qwick
