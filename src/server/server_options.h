// What the operator of a server may choose; filled in by `qwick serve`, read by Server and its parts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/http.h"

namespace qwick {

struct ServerOptions {
  HttpOptions http;
  std::vector<std::string> api_keys;  // with none, and no file: everybody is let in
  std::string api_key_file;           // "": none; read again on request_reload()
  std::vector<std::string> cors_origins;
  uint32_t max_prompt_tokens = 0;                   // of one request; 0: what the context holds
  std::chrono::seconds request_timeout{0};          // from the request to the end of its answer; 0: none
  std::chrono::milliseconds drain_timeout{30'000};  // for the answers in progress when stopping
  std::chrono::milliseconds keep_alive{10'000};     // silence after which a stream gets a comment
  std::chrono::seconds heartbeat{0};                // a tiny step after so much idleness; 0: none
  std::string system_prompt;                        // put into the prefix cache before the server is ready
  bool access_log = false;                          // a line for each request
  bool log_prompts = false;                         // and its body
};

}  // namespace qwick
