// One line for each way in which a hub can fail to answer, with what to do about it. Called by hub/pull
// and hub/download when trying again has not helped.
#pragma once

#include <string>

#include "hub/http_client.h"
#include "hub/hub_settings.h"
#include "hub/model_names.h"

namespace qwick {

// Where a model is taken from: never kAuto.
struct HubPlace {
  HubSource source = HubSource::kHuggingFace;
  const HubSettings& settings;

  const std::string& endpoint() const;
  const std::string& token() const;  // Hugging Face's is for Hugging Face alone
};

// `path`: the file that was asked for; "": the list of files. Throws Error kNotFound, kIo, kInvalidArgument.
[[noreturn]] void fail_with_reply(const HttpReply& reply, const HubPlace& place, const HubName& name,
                                  const std::string& path);

}  // namespace qwick
