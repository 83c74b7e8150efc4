// A connection of HttpServer, in Boost's terms; included by http*.cc alone.
//
// One coroutine (serve) reads a request, hands it to the handler and sends the answer; a second one
// (pump) always reads, so that a client that leaves is noticed whatever the first is doing. Both wait on
// signals that stand for "something has changed" and run on the one I/O thread: no locks.
#pragma once

#include <utility>  // Boost 1.74's awaitable.hpp needs it and does not include it

#ifdef __clang__  // whose coroutines Boost 1.74 takes for the experimental ones
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif
#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.h"

namespace qwick {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

inline constexpr steady_clock::time_point kNever = steady_clock::time_point::max();

// For operations whose failure changes nothing.
inline void ignore(const error_code& /*error*/) {}

// Wakes the coroutine that waits, if one does. Waiters check their condition before and after.
class Signal {
 public:
  explicit Signal(const asio::any_io_executor& executor) : timer_(executor) {}

  void notify() { timer_.cancel(); }
  asio::awaitable<void> wait(steady_clock::time_point deadline = kNever) {
    error_code ignored;
    timer_.expires_at(deadline);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

 private:
  asio::steady_timer timer_;
};

// What all connections share.
struct ConnectionContext {
  ConnectionContext(HttpOptions o, HttpServer::Handler h, HttpServer::ErrorResponder e)
      : options(std::move(o)), handler(std::move(h)), error_responder(std::move(e)) {}

  asio::io_context io{1};
  HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::ErrorResponder error_responder;
  std::function<void(const HttpRequest&, HttpResponse&)> on_head;
  std::function<void(const HttpOutcome&)> on_outcome;
  Signal connection_closed{io.get_executor()};
  uint32_t n_connections = 0;
  uint32_t n_busy = 0;  // connections between the first byte of a request and the end of its answer
  bool stopping = false;
};

class Connection;

// The answer in progress of a connection; outlives it where the handler keeps it.
class LiveExchange final : public HttpExchange {
 public:
  LiveExchange(Connection& connection, HttpRequest request, bool keep_alive, bool http_1_0)
      : connection_(&connection),
        request_(std::move(request)),
        keep_alive_(keep_alive),
        chunked_(!http_1_0),
        head_only_(request_.method == "HEAD") {}

  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override;
  void start_stream(HttpResponse head) override;
  void write(std::string_view bytes) override;
  void finish() override;
  void abort() override;
  size_t unsent_bytes() const override;
  void on_drained(std::function<void()> callback) override { drained_ = std::move(callback); }
  void on_left(std::function<void()> callback) override { left_ = std::move(callback); }

  bool started() const { return started_; }
  HttpOutcome outcome() const { return {this, status_, is_cut_}; }
  bool finished() const { return finished_; }
  bool keep_alive() const { return keep_alive_; }
  void drained() const {
    if (drained_) drained_();
  }
  // The client is gone: says so once.
  void leave() {
    if (finished_) return;
    finished_ = is_cut_ = true;
    keep_alive_ = false;
    if (const auto left = std::exchange(left_, nullptr)) left();
  }
  // The connection is done with this exchange.
  void detach() {
    connection_ = nullptr;
    drained_ = nullptr;
    left_ = nullptr;
  }

 private:
  bool live() const { return connection_ != nullptr && !finished_; }
  std::string begin(HttpResponse& head);  // the bytes of it, but for what says how the body is sent

  Connection* connection_;
  HttpRequest request_;
  bool keep_alive_;
  bool chunked_;
  bool head_only_;
  bool started_ = false;
  bool finished_ = false;
  bool is_cut_ = false;
  int status_ = 0;
  std::function<void()> drained_, left_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionContext& context, tcp::socket socket)
      : context_(context),
        socket_(std::move(socket)),
        changed_(socket_.get_executor()),
        room_(socket_.get_executor()),
        write_watchdog_(socket_.get_executor()) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (exchange_) exchange_->detach();
  }

  asio::awaitable<void> serve();
  asio::awaitable<void> pump();

  // For the exchange in progress.
  ConnectionContext& context() { return context_; }
  void send(std::string_view bytes) {
    output_ += bytes;
    changed_.notify();
  }
  size_t unsent_bytes() const { return output_.size() + in_flight_.size() - n_sent_; }
  void close() {
    error_code error;
    ignore(socket_.close(error));
  }
  // From the first byte of a request to the end of its answer.
  void begin_busy() {
    busy_ = true;
    ++context_.n_busy;
  }
  void end_busy() {
    if (std::exchange(busy_, false) && --context_.n_busy == 0 && context_.stopping) context_.io.stop();
  }

 private:
  struct Received {
    std::shared_ptr<LiveExchange> exchange;
    int error = 0;  // to be answered with this status instead; 0 with no exchange: just the end
    std::string message;
  };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  // Bytes after which no more are read until some have been parsed.
  size_t max_input() const { return std::max(arriving_.size(), context_.options.max_header_bytes); }
  asio::awaitable<Received> receive();
  std::optional<Received> feed(Parser& parser);
  Received accept_request(Parser& parser);
  asio::awaitable<void> answer(std::shared_ptr<LiveExchange> exchange);
  asio::awaitable<bool> flush();
  asio::awaitable<void> linger();
  void respond_to_error(int status, std::string_view message);
  void handle(LiveExchange& exchange);

  ConnectionContext& context_;
  tcp::socket socket_;
  Signal changed_;  // for serve(): input, output, the end of either
  Signal room_;     // for pump(): room in input_
  asio::steady_timer write_watchdog_;
  std::array<char, 16 << 10> arriving_{};  // for pump() alone
  std::string input_;                      // not parsed yet
  bool input_ended_ = false;
  bool discard_input_ = false;
  bool busy_ = false;
  std::string output_;     // to be sent
  std::string in_flight_;  // being sent
  size_t n_sent_ = 0;      // of in_flight_
  std::shared_ptr<LiveExchange> exchange_;
};

}  // namespace qwick
