// One coroutine per connection reads a request, hands it to the handler and sends the answer; a
// second one (pump) always reads, so that a client that leaves is noticed whatever the first is doing.
// Both wait on timers that stand for "something has changed" and run on the one I/O thread: no locks.
// co_await stands alone or initialises a variable: inside conditions, g++ 12 makes wrong code of it.
#include "server/http.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>  // Boost 1.74's awaitable.hpp needs it and does not include it

#ifdef __clang__  // whose coroutines Boost 1.74 takes for the experimental ones
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif
#include <boost/asio.hpp>
#include <boost/beast/http.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"

namespace qwick {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (boost::beast::iequals(boost::beast::string_view(header.name.data(), header.name.size()),
                              boost::beast::string_view(name.data(), name.size()))) {
      return header.value;
    }
  }
  return {};
}

namespace {

constexpr size_t kReadBytes = 16 << 10;                // taken from a socket at once
constexpr std::chrono::seconds kLingerTime{5};         // for a client to take in a last answer
constexpr std::chrono::milliseconds kAcceptPause{50};  // when the system is out of descriptors
constexpr steady_clock::time_point kNever = steady_clock::time_point::max();

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
struct Shared {
  Shared(HttpOptions o, HttpServer::Handler h, HttpServer::ErrorResponder e)
      : options(std::move(o)), handler(std::move(h)), error_responder(std::move(e)) {}

  asio::io_context io{1};
  HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::ErrorResponder error_responder;
  Signal connection_closed{io.get_executor()};
  uint32_t n_connections = 0;
  uint32_t n_busy = 0;  // connections between the first byte of a request and the end of its answer
  bool stopping = false;
};

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

std::string_view reason_phrase(int status) {
  const auto reason = beast_http::obsolete_reason(static_cast<beast_http::status>(status));
  return {reason.data(), reason.size()};
}

std::string response_head(const HttpResponse& response, bool keep_alive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nConnection: {}\r\n", response.status,
                                 reason_phrase(response.status), http_date(),
                                 keep_alive ? "keep-alive" : "close");
  if (!response.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", response.content_type);
  for (const HttpHeader& header : response.headers) head += fmt::format("{}: {}\r\n", header.name, header.value);
  return head;
}

// The way of a target to its path: "/a?b" and "http://host/a?b" are both "/a".
std::string path_of(std::string_view target) {
  if (const auto scheme = target.find("://"); scheme != std::string_view::npos && target[0] != '/') {
    const auto slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return std::string(target.substr(0, target.find_first_of("?#")));
}

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
  bool finished() const { return finished_; }
  bool keep_alive() const { return keep_alive_; }
  void drained() const {
    if (drained_) drained_();
  }
  // The client is gone: says so once.
  void leave() {
    if (finished_) return;
    finished_ = true;
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

  Connection* connection_;
  HttpRequest request_;
  bool keep_alive_;
  bool chunked_;
  bool head_only_;
  bool started_ = false;
  bool finished_ = false;
  std::function<void()> drained_, left_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, tcp::socket socket)
      : shared_(shared),
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
  void send(std::string_view bytes) {
    output_ += bytes;
    changed_.notify();
  }
  size_t unsent_bytes() const { return output_.size() + in_flight_.size() - n_sent_; }
  void close() {
    error_code ignored;
    socket_.close(ignored);
  }
  // From the first byte of a request to the end of its answer.
  void begin_busy() {
    busy_ = true;
    ++shared_.n_busy;
  }
  void end_busy() {
    if (std::exchange(busy_, false) && --shared_.n_busy == 0 && shared_.stopping) shared_.io.stop();
  }

 private:
  struct Received {
    std::shared_ptr<LiveExchange> exchange;
    int error = 0;  // to be answered with this status instead; 0 with no exchange: just the end
    std::string message;
  };
  using Parser = beast_http::request_parser<beast_http::string_body>;

  asio::awaitable<Received> receive();
  std::optional<Received> feed(Parser& parser);
  Received accept_request(Parser& parser);
  asio::awaitable<void> answer(std::shared_ptr<LiveExchange> exchange);
  asio::awaitable<bool> flush();
  asio::awaitable<void> linger();
  void respond_to_error(int status, std::string_view message);
  void handle(LiveExchange& exchange);

  Shared& shared_;
  tcp::socket socket_;
  Signal changed_;  // for serve(): input, output, the end of either
  Signal room_;     // for pump(): room in input_
  asio::steady_timer write_watchdog_;
  std::array<char, kReadBytes> arriving_{};  // for pump() alone
  std::string input_;                        // not parsed yet
  bool input_ended_ = false;
  bool discard_input_ = false;
  bool busy_ = false;
  std::string output_;     // to be sent
  std::string in_flight_;  // being sent
  size_t n_sent_ = 0;      // of in_flight_
  std::shared_ptr<LiveExchange> exchange_;
};

void LiveExchange::respond(HttpResponse response) {
  if (!live() || started_) return;
  started_ = true;
  std::string bytes = response_head(response, keep_alive_);
  if (response.status != 204) bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += "\r\n";
  if (!head_only_) bytes += response.body;
  finished_ = true;
  connection_->send(bytes);
}

void LiveExchange::start_stream(HttpResponse head) {
  if (!live() || started_) return;
  started_ = true;
  if (!chunked_) keep_alive_ = false;  // HTTP/1.0: the end of the connection ends the answer
  std::string bytes = response_head(head, keep_alive_);
  if (chunked_) bytes += "Transfer-Encoding: chunked\r\n";
  connection_->send(bytes + "\r\n");
}

void LiveExchange::write(std::string_view bytes) {
  if (!live() || head_only_ || bytes.empty()) return;
  connection_->send(chunked_ ? fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes) : std::string(bytes));
}

void LiveExchange::finish() {
  if (!live()) return;
  finished_ = true;
  connection_->send(chunked_ && !head_only_ ? "0\r\n\r\n" : "");
}

void LiveExchange::abort() {
  if (!live()) return;
  finished_ = true;
  keep_alive_ = false;
  connection_->close();
}

size_t LiveExchange::unsent_bytes() const { return connection_ == nullptr ? 0 : connection_->unsent_bytes(); }

asio::awaitable<void> Connection::pump() {
  const auto self = shared_from_this();
  const size_t enough = std::max(arriving_.size(), shared_.options.max_header_bytes);
  while (socket_.is_open()) {
    if (input_.size() > enough) {
      co_await room_.wait();
      continue;
    }
    error_code error;
    const size_t n = co_await socket_.async_read_some(asio::buffer(arriving_),
                                                      asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    if (!discard_input_) input_.append(arriving_.data(), n);
    changed_.notify();
  }
  input_ended_ = true;
  if (exchange_) exchange_->leave();
  changed_.notify();
}

asio::awaitable<void> Connection::serve() {
  const auto self = shared_from_this();
  for (bool more = true; more;) {
    const Received received = co_await receive();
    more = false;
    if (received.exchange) {
      co_await answer(received.exchange);
      more = received.exchange->keep_alive();
    } else if (received.error != 0) {
      respond_to_error(received.error, received.message);
      co_await flush();
    }
    end_busy();
  }
  co_await linger();
  close();
  room_.notify();
}

// Waits for one request. The connection is busy from its first byte on.
asio::awaitable<Connection::Received> Connection::receive() {
  Parser parser;
  parser.header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
  parser.body_limit(shared_.options.max_body_bytes);
  bool in_body = false;
  auto deadline = steady_clock::now() + shared_.options.idle_timeout;
  for (;;) {
    if (input_.size() > 0 && !busy_) {
      begin_busy();
      deadline = steady_clock::now() + shared_.options.header_timeout;
    }
    std::optional<Received> received = feed(parser);
    if (received) co_return std::move(*received);
    if (parser.is_header_done() && !in_body) {
      in_body = true;
      deadline = steady_clock::now() + shared_.options.body_timeout;
      if (boost::beast::iequals(parser.get()[beast_http::field::expect], "100-continue")) {
        send("HTTP/1.1 100 Continue\r\n\r\n");
        const bool alive = co_await flush();
        if (!alive) co_return Received{};
        continue;
      }
    }
    if (input_ended_) co_return Received{};
    if (steady_clock::now() >= deadline) {
      if (!busy_) co_return Received{};
      co_return Received{nullptr, 408, "the request took too long to arrive"};
    }
    co_await changed_.wait(deadline);
  }
}

// Gives the parser what has come in. Returns the request when it is whole, or what is wrong with it.
std::optional<Connection::Received> Connection::feed(Parser& parser) {
  while (input_.size() > 0 && !parser.is_done()) {
    error_code error;
    const size_t n = parser.put(asio::buffer(input_), error);
    input_.erase(0, n);
    room_.notify();
    if (error == beast_http::error::need_more) break;
    if (error == beast_http::error::body_limit) {
      return Received{nullptr, 413,
                      fmt::format("the request body is larger than {} bytes", shared_.options.max_body_bytes)};
    }
    if (error == beast_http::error::header_limit) {
      return Received{nullptr, 431,
                      fmt::format("the request header is larger than {} bytes", shared_.options.max_header_bytes)};
    }
    if (error) return Received{nullptr, 400, fmt::format("not a valid HTTP request: {}", error.message())};
  }
  if (!parser.is_done()) return std::nullopt;
  return accept_request(parser);
}

Connection::Received Connection::accept_request(Parser& parser) {
  const bool keep_alive = parser.keep_alive() && !shared_.stopping;
  auto message = parser.release();
  const bool http_1_0 = message.version() == 10;
  if (!http_1_0 && message.count(beast_http::field::host) != 1) {
    return {nullptr, 400, "not a valid HTTP request: there must be one Host header"};
  }
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.path = path_of({message.target().data(), message.target().size()});
  for (const auto& field : message) {
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  request.body = std::move(message.body());
  return {std::make_shared<LiveExchange>(*this, std::move(request), keep_alive, http_1_0), 0, {}};
}

// Has the request handled and sends what comes of it, until its end or the client's.
asio::awaitable<void> Connection::answer(std::shared_ptr<LiveExchange> exchange) {
  exchange_ = exchange;
  handle(*exchange_);
  for (;;) {
    if (!output_.empty()) {
      const bool alive = co_await flush();
      if (!alive) break;
      exchange_->drained();
    } else if (exchange_->finished() || input_ended_) {
      break;
    } else {
      co_await changed_.wait();
    }
  }
  exchange_->leave();  // nothing if it has ended
  exchange_->detach();
  exchange_.reset();
}

void Connection::handle(LiveExchange& exchange) {
  try {
    shared_.handler(exchange_);
  } catch (const std::exception& error) {
    log::error("{} {}: {}", exchange.request().method, exchange.request().path, error.what());
    if (exchange.started()) {
      exchange.abort();
    } else {
      exchange.respond(shared_.error_responder(500, "internal error; the server's log says more"));
    }
  }
}

void Connection::respond_to_error(int status, std::string_view message) {
  const HttpResponse response = shared_.error_responder(status, message);
  send(response_head(response, false) +
       fmt::format("Content-Length: {}\r\n\r\n{}", response.body.size(), response.body));
}

// Sends all output there is. False: the client is gone, or took nothing for too long.
asio::awaitable<bool> Connection::flush() {
  bool alive = true;
  in_flight_ = std::exchange(output_, {});
  n_sent_ = 0;
  while (alive && n_sent_ < in_flight_.size()) {
    write_watchdog_.expires_after(shared_.options.write_timeout);
    write_watchdog_.async_wait([this, weak = weak_from_this()](const error_code& error) {
      // Not if it has been set anew since it went off.
      if (const auto self = weak.lock(); self && !error && write_watchdog_.expiry() <= steady_clock::now()) close();
    });
    error_code error;
    const size_t n = co_await socket_.async_write_some(asio::buffer(in_flight_) + n_sent_,
                                                       asio::redirect_error(asio::use_awaitable, error));
    n_sent_ += n;
    alive = !error;
  }
  write_watchdog_.expires_at(kNever);
  in_flight_.clear();
  n_sent_ = 0;
  co_return alive;
}

// Closing with input unread would make the system throw away the last answer, so: no more output,
// then wait a little for the client's end.
asio::awaitable<void> Connection::linger() {
  discard_input_ = true;
  input_.clear();
  room_.notify();
  error_code error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
  const auto deadline = steady_clock::now() + kLingerTime;
  while (!error && !input_ended_ && steady_clock::now() < deadline) {
    co_await changed_.wait(deadline);
  }
}

std::string bind_advice(const error_code& error) {
  if (error == asio::error::address_in_use) return "the port is in use; choose another with --port";
  if (error == asio::error::access_denied) {
    return "permission denied; ports below 1024 need privileges, choose another with --port";
  }
  if (error == std::errc::address_not_available || error == asio::error::address_family_not_supported) {
    return "this machine has no such address; choose another with --host";
  }
  return error.message();
}

tcp::endpoint resolve(asio::io_context& io, std::string host, uint16_t port) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code error;
  if (const auto address = asio::ip::make_address(host, error); !error) return {address, port};
  const auto found = tcp::resolver(io).resolve(host, std::to_string(port), error);
  if (error || found.empty()) {
    throw Error(ErrorCode::kIo, fmt::format("can't listen on {}: unknown host", host), "host");
  }
  return found.begin()->endpoint();
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpOptions options, Handler handler, ErrorResponder error_responder)
      : shared_(std::move(options), std::move(handler), std::move(error_responder)),
        acceptor_(shared_.io),
        stop_event_(shared_.io, ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    listen();
  }

  uint16_t port() const { return endpoint_.port(); }
  std::string url() const {
    const std::string address = endpoint_.address().to_string();
    const bool v6 = endpoint_.address().is_v6();
    return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port());
  }

  void run() {
    asio::co_spawn(shared_.io, accept(), asio::detached);
    asio::co_spawn(shared_.io, watch_stop(), asio::detached);
    for (;;) {
      try {
        shared_.io.run();
        return;
      } catch (const std::exception& error) {
        log::error("on the I/O thread: {}", error.what());
      }
    }
  }

  void request_stop() {
    const int saved = errno;
    const uint64_t once = 1;
    [[maybe_unused]] const auto n = ::write(stop_event_.native_handle(), &once, sizeof once);
    errno = saved;
  }

  void on_stop(std::function<void()> callback) { on_stop_ = std::move(callback); }
  void post(std::function<void()> work) { asio::post(shared_.io, std::move(work)); }
  void run_after(std::chrono::milliseconds delay, std::function<void()> work) {
    auto timer = std::make_shared<asio::steady_timer>(shared_.io, delay);
    timer->async_wait([timer, work = std::move(work)](const error_code& error) {
      if (!error) work();
    });
  }

 private:
  void listen() {
    endpoint_ = resolve(shared_.io, shared_.options.host, shared_.options.port);
    error_code error;
    const auto check = [&] {
      if (!error) return;
      throw Error(ErrorCode::kIo, fmt::format("can't listen on {}: {}", url(), bind_advice(error)), "port");
    };
    acceptor_.open(endpoint_.protocol(), error);
    check();
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    check();
    if (endpoint_.address().is_v6()) {
      acceptor_.set_option(asio::ip::v6_only(false), error);
      check();
    }
    acceptor_.bind(endpoint_, error);
    check();
    acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    check();
    endpoint_ = acceptor_.local_endpoint();
  }

  asio::awaitable<void> accept() {
    asio::steady_timer pause(shared_.io);
    while (acceptor_.is_open()) {
      if (shared_.n_connections >= shared_.options.max_connections) {
        co_await shared_.connection_closed.wait();
        continue;
      }
      error_code error;
      tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error && acceptor_.is_open()) {  // out of descriptors, or a client that is gone already
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      } else if (!error) {
        start(std::move(socket));
      }
    }
  }

  void start(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(shared_, std::move(socket));
    ++shared_.n_connections;
    asio::co_spawn(shared_.io, [connection] { return connection->pump(); }, report);
    asio::co_spawn(
        shared_.io, [connection] { return connection->serve(); },
        [this, connection](const std::exception_ptr& failure) {
          report(failure);
          connection->close();
          connection->end_busy();
          --shared_.n_connections;
          shared_.connection_closed.notify();
        });
  }

  static void report(const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("on a connection: {}", error.what());
    }
  }

  asio::awaitable<void> watch_stop() {
    for (uint64_t n_requests = 0; n_requests < 2;) {
      error_code error;
      co_await stop_event_.async_wait(asio::posix::stream_descriptor::wait_read,
                                      asio::redirect_error(asio::use_awaitable, error));
      uint64_t n_more = 0;
      if (error || ::read(stop_event_.native_handle(), &n_more, sizeof n_more) < 0) continue;
      n_requests += n_more;
      if (!shared_.stopping) stop();
    }
    shared_.io.stop();
  }

  void stop() {
    shared_.stopping = true;
    error_code ignored;
    acceptor_.close(ignored);
    if (on_stop_) on_stop_();
    if (shared_.n_busy == 0) shared_.io.stop();
  }

  Shared shared_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::posix::stream_descriptor stop_event_;
  std::function<void()> on_stop_;
};

HttpServer::HttpServer(HttpOptions options, Handler handler, ErrorResponder error_responder)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler), std::move(error_responder))) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port(); }
std::string HttpServer::url() const { return impl_->url(); }
void HttpServer::run() { impl_->run(); }
void HttpServer::request_stop() { impl_->request_stop(); }
void HttpServer::on_stop(std::function<void()> callback) { impl_->on_stop(std::move(callback)); }
void HttpServer::post(std::function<void()> work) { impl_->post(std::move(work)); }
void HttpServer::run_after(std::chrono::milliseconds delay, std::function<void()> work) {
  impl_->run_after(delay, std::move(work));
}

}  // namespace qwick
