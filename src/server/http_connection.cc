// co_await stands alone or initialises a variable here: inside conditions, g++ 12 makes wrong code of it.
#include "server/http_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "base/log.h"

namespace qwick {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::chrono::seconds kLingerTime{5};  // for a client to take in a last answer
constexpr size_t kLastChunkBytes = 5;           // "0\r\n\r\n"

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
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nConnection: {}\r\n", response.status,
                  reason_phrase(response.status), http_date(), keep_alive ? "keep-alive" : "close");
  if (!response.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", response.content_type);
  for (const HttpHeader& header : response.headers)
    head += fmt::format("{}: {}\r\n", header.name, header.value);
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

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (boost::beast::iequals(boost::beast::string_view(header.name.data(), header.name.size()),
                              boost::beast::string_view(name.data(), name.size()))) {
      return header.value;
    }
  }
  return {};
}

std::string LiveExchange::begin(HttpResponse& head) {
  started_ = true;
  status_ = head.status;
  if (const auto& add_headers = connection_->context().on_head) add_headers(request_, head);
  return response_head(head, keep_alive_);
}

void LiveExchange::respond(HttpResponse response) {
  if (!live() || started_) return;
  std::string bytes = begin(response);
  if (response.status != 204) bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += "\r\n";
  if (!head_only_) bytes += response.body;
  finished_ = true;
  connection_->send(bytes);
}

void LiveExchange::start_stream(HttpResponse head) {
  if (!live() || started_) return;
  if (!chunked_) keep_alive_ = false;  // HTTP/1.0: the end of the connection ends the answer
  std::string bytes = begin(head);
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
  finished_ = is_cut_ = true;
  keep_alive_ = false;
  connection_->close();
}

size_t LiveExchange::unsent_bytes() const {
  return connection_ == nullptr ? 0 : connection_->unsent_bytes();
}

asio::awaitable<void> Connection::pump() {
  const auto self = shared_from_this();
  while (socket_.is_open()) {
    if (input_.size() > max_input()) {
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
  parser.header_limit(static_cast<uint32_t>(context_.options.max_header_bytes));
  parser.body_limit(context_.options.max_body_bytes);
  bool in_body = false;
  auto deadline = steady_clock::now() + context_.options.idle_timeout;
  for (;;) {
    if (input_.size() > 0 && !busy_) {
      begin_busy();
      deadline = steady_clock::now() + context_.options.header_timeout;
    }
    std::optional<Received> received = feed(parser);
    if (received) co_return std::move(*received);
    if (parser.is_header_done() && !in_body) {
      in_body = true;
      deadline = steady_clock::now() + context_.options.body_timeout;
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
    // A chunked body can't end with less, and Boost before 1.86 asserts that where the last chunk comes in
    // pieces.
    if (parser.is_header_done() && parser.chunked() && input_.size() < kLastChunkBytes) break;
    error_code error;
    const size_t n = parser.put(asio::buffer(input_), error);
    input_.erase(0, n);
    room_.notify();
    if (error == beast_http::error::need_more) {
      if (input_.size() <= max_input()) break;
      return Received{nullptr, 431,
                      fmt::format("a chunk's header or trailer is larger than {} bytes", max_input())};
    }
    if (error == beast_http::error::body_limit) {
      return Received{
          nullptr, 413,
          fmt::format("the request body is larger than {} bytes", context_.options.max_body_bytes)};
    }
    if (error == beast_http::error::header_limit) {
      return Received{
          nullptr, 431,
          fmt::format("the request header is larger than {} bytes", context_.options.max_header_bytes)};
    }
    if (error) return Received{nullptr, 400, fmt::format("not a valid HTTP request: {}", error.message())};
  }
  if (!parser.is_done()) return std::nullopt;
  return accept_request(parser);
}

Connection::Received Connection::accept_request(Parser& parser) {
  const bool keep_alive = parser.keep_alive() && !context_.stopping;
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
  request.received = steady_clock::now();
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
  if (context_.on_outcome) context_.on_outcome(exchange_->outcome());
  exchange_->detach();
  exchange_.reset();
}

void Connection::handle(LiveExchange& exchange) {
  try {
    context_.handler(exchange_);
  } catch (const std::exception& error) {
    log::error("{} {}: {}", exchange.request().method, exchange.request().path, error.what());
    if (exchange.started()) {
      exchange.abort();
    } else {
      exchange.respond(context_.error_responder(500, "internal error; the server's log says more"));
    }
  }
}

void Connection::respond_to_error(int status, std::string_view message) {
  const HttpResponse response = context_.error_responder(status, message);
  send(response_head(response, false) +
       fmt::format("Content-Length: {}\r\n\r\n{}", response.body.size(), response.body));
  if (context_.on_outcome) context_.on_outcome({nullptr, status, false});
}

// Sends all output there is. False: the client is gone, or took nothing for too long.
asio::awaitable<bool> Connection::flush() {
  bool alive = true;
  in_flight_ = std::exchange(output_, {});
  n_sent_ = 0;
  while (alive && n_sent_ < in_flight_.size()) {
    write_watchdog_.expires_after(context_.options.write_timeout);
    write_watchdog_.async_wait([this, weak = weak_from_this()](const error_code& error) {
      // Not if it has been set anew since it went off.
      if (const auto self = weak.lock(); self && !error && write_watchdog_.expiry() <= steady_clock::now())
        close();
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
  const bool open = !socket_.shutdown(tcp::socket::shutdown_send, error);
  const auto deadline = steady_clock::now() + kLingerTime;
  while (open && !input_ended_ && steady_clock::now() < deadline) {
    co_await changed_.wait(deadline);
  }
}

}  // namespace qwick
