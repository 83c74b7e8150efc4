// Plays sessions against a server, in a closed loop or at random times, and keeps what came back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/stream_client.h"
#include "bench/workload.h"

namespace qwick {

struct LoadOptions {
  std::string model;            // the name that requests carry
  bool stream = true;           // else answers come in one piece
  Json extra = Json::object();  // more fields of every request
  uint32_t n_clients = 1;       // closed loop: so many sessions at once, the next when one has ended
  double sessions_per_s = 0;    // above 0 instead: a Poisson process of this rate
  uint64_t seed = 0;            // of its times
};

struct LoadResult {
  std::vector<StreamReply> replies;  // one for each turn that was asked, in the order of their ends
  double seconds = 0;                // from the first request to the end of the last answer
};

// All sessions, each of their answers greedy and as long as asked for (`ignore_eos`). A turn that fails ends
// its session.
LoadResult run_load(StreamClient& client, const std::vector<Session>& sessions, const LoadOptions& options);

}  // namespace qwick
