// HTTP GET by libcurl, which stays behind http_client.cc. A client keeps its connection and belongs to
// one thread. Proxies and NO_PROXY are read from the environment, as curl does; certificates from
// SSL_CERT_FILE or CURL_CA_BUNDLE where set. Called by hub/fetch and hub/download.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace qwick {

struct HttpRequest {
  std::string url;
  std::string token;     // sent as a bearer token to the host of `url`, never where that redirects; "": none
  uint64_t first = 0;    // with `n_bytes`: the range of bytes that is asked for
  uint64_t n_bytes = 0;  // 0: everything, no range
};

enum class Transport {
  kOk,           // there is a reply, whatever its status
  kStopped,      // the receiver wanted no more
  kUnreachable,  // no connection to the host
  kBroken,       // a connection that ended early or fell silent
  kCertificate,
  kOther,  // nothing that trying again could help
};

struct HttpReply {
  Transport transport = Transport::kOk;
  std::string message;  // what went wrong, by libcurl
  std::string host;     // that answered last, or could not be reached

  int status = 0;
  std::string error_code;  // X-Error-Code of Hugging Face: "GatedRepo" ...
  std::optional<std::chrono::seconds> retry_after;
  struct Range {
    uint64_t first = 0;
    uint64_t total = 0;  // bytes of the whole file
  };
  std::optional<Range> range;  // with status 206
};

class HttpClient {
 public:
  // `stop`, which outlives the client, ends what get() is doing when it becomes true.
  explicit HttpClient(std::chrono::seconds timeout, const std::atomic<bool>* stop = nullptr);

  // Gets the body of a reply with status 200 or 206, piece by piece; false: enough. What it throws
  // comes out of get().
  using Receiver = std::function<bool(const HttpReply&, std::span<const std::byte>)>;
  HttpReply get(const HttpRequest& request, const Receiver& receiver);

  // "a b" -> "a%20b"; a slash stays one where keep_slashes.
  static std::string escaped(std::string_view text, bool keep_slashes);

 private:
  struct Handle;
  struct Transfer;
  void set_up(const HttpRequest& request, Transfer& transfer);

  std::shared_ptr<Handle> handle_;
  std::chrono::seconds timeout_;
  const std::atomic<bool>* stop_;
};

// Whether the same request may succeed later: broken connections, too many requests, a server out of order.
bool is_transient(const HttpReply& reply);

}  // namespace qwick
