// A client of the OpenAI API for measuring: many requests at once on one thread, with the times at which
// their answers came in. libcurl stays behind stream_client.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace qwick {

using BenchClock = std::chrono::steady_clock;

// What came back for one request. Times are in seconds after it was sent.
struct StreamReply {
  std::string error;                // one line; "" where the whole answer came
  std::string text;                 // answer and reasoning
  std::vector<double> chunk_times;  // of each piece of text; without streaming: of the answer
  double seconds = 0;               // until the answer was complete
  BenchClock::time_point sent;
  uint32_t prompt_tokens = 0;  // as the server counts them; 0: it did not say
  uint32_t answer_tokens = 0;  // likewise, or else the pieces of text
};

class StreamClient {
 public:
  // base_url: "http://127.0.0.1:8000", with or without /v1. api_key may be "".
  StreamClient(std::string base_url, std::string api_key);
  ~StreamClient();
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  using Done = std::function<void(StreamReply)>;
  // Sends a request to /v1 + path ("/chat/completions"), soon. `done` is called from wait(), and may post
  // more.
  void post(std::string_view path, const Json& body, Done done);

  // Takes what has come until then, or until an answer is complete.
  void wait(BenchClock::time_point until);
  size_t n_open() const;

  // GET url() + path ("/version"); "" unless the answer is a 200.
  std::string get(std::string_view path) const;
  const std::string& url() const;  // without /v1

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
