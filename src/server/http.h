// HTTP/1.1 as the server needs it, on one I/O thread: requests come in whole and bounded, answers go
// out whole or as streams, clients that leave or stall are noticed. The only file that knows Boost
// is http.cc; server.cc is the only user.
//
// Everything runs on the thread that is in run(), except what is marked "any thread".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // without query
  std::vector<HttpHeader> headers;
  std::string body;
  std::chrono::steady_clock::time_point received;  // when it was here as a whole

  std::string_view header(std::string_view name) const;  // any case; "" where there is none
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<HttpHeader> headers = {};  // more of them; names and values are ours, never the client's
};

// One request and its answer: either respond(), or start_stream(), write()s and finish(). May be kept
// and answered later. After the client has left, all calls are harmless and do nothing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const HttpRequest& request() const = 0;
  virtual void respond(HttpResponse response) = 0;
  virtual void start_stream(HttpResponse head) = 0;  // the body is not used
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() = 0;
  virtual void abort() = 0;  // drops the connection

  // Bytes accepted by write() that the client has not taken yet.
  virtual size_t unsent_bytes() const = 0;
  // Called each time these have reached 0.
  virtual void on_drained(std::function<void()> callback) = 0;
  // Called once if the client leaves, or stalls for too long, before finish() or respond().
  virtual void on_left(std::function<void()> callback) = 0;
};

// What became of a request, told once when nothing more of its answer will be sent.
struct HttpOutcome {
  const HttpExchange* exchange = nullptr;  // none: it never became a request (400, 408, 413, 431)
  int status = 0;                          // 0: the client left before there was an answer
  bool is_cut = false;                     // the answer had no end
};

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address or a name; "::" is all of IPv6 and IPv4
  uint16_t port = 8000;            // 0: any free one
  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 32 << 20;
  uint32_t max_connections = 1024;                   // more wait in the listen queue
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte to the end of the header
  std::chrono::milliseconds body_timeout{60'000};    // for the whole body
  std::chrono::milliseconds write_timeout{30'000};   // for a client that reads nothing
};

class HttpServer {
 public:
  using Handler = std::function<void(std::shared_ptr<HttpExchange>)>;
  // Makes the answer to what never gets to the handler: 400, 408, 413, 431, 500.
  using ErrorResponder = std::function<HttpResponse(int status, std::string_view message)>;

  // Binds and listens. Throws Error kIo: port in use, no permission, unknown host.
  HttpServer(HttpOptions options, Handler handler, ErrorResponder error_responder);
  ~HttpServer();

  uint16_t port() const;  // the bound one
  // "http://127.0.0.1:8000"
  std::string url() const;

  // Serves until stopped; returns when no connection is answering any more.
  void run();
  // Any thread, and signal handlers. First call: `on_stop`, no new connections, answers in progress go
  // on; run() returns when they are done. Second call: run() returns at once.
  void request_stop();
  void on_stop(std::function<void()> callback);
  // Any thread, and signal handlers: calls on_reload's callback, soon.
  void request_reload();
  void on_reload(std::function<void()> callback);
  // May add headers to any answer to a request, before it is sent.
  void on_head(std::function<void(const HttpRequest&, HttpResponse&)> callback);
  void on_outcome(std::function<void(const HttpOutcome&)> callback);
  // Any thread: runs `work` on the I/O thread, soon.
  void post(std::function<void()> work);
  void run_after(std::chrono::milliseconds delay, std::function<void()> work);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
