// The listening side of the HTTP server; connections are in http_connection.cc.
#include "server/http.h"

#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/log.h"
#include "server/http_connection.h"

namespace qwick {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{50};  // when the system is out of descriptors
constexpr int kProbeAfterSeconds = 15;                 // of silence, and between probes

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
      : context_(std::move(options), std::move(handler), std::move(error_responder)),
        acceptor_(context_.io),
        event_(context_.io, ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    listen();
  }

  uint16_t port() const { return endpoint_.port(); }
  std::string url() const {
    const std::string address = endpoint_.address().to_string();
    const bool v6 = endpoint_.address().is_v6();
    return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port());
  }

  void run() {
    asio::co_spawn(context_.io, accept(), asio::detached);
    asio::co_spawn(context_.io, watch_events(), asio::detached);
    for (;;) {
      try {
        context_.io.run();
        return;
      } catch (const std::exception& error) {
        log::error("on the I/O thread: {}", error.what());
      }
    }
  }

  void request_stop() { signal(kStop); }
  void request_reload() { signal(kReload); }

  void on_stop(std::function<void()> callback) { on_stop_ = std::move(callback); }
  void on_reload(std::function<void()> callback) { on_reload_ = std::move(callback); }
  void on_head(std::function<void(const HttpRequest&, HttpResponse&)> callback) {
    context_.on_head = std::move(callback);
  }
  void on_outcome(std::function<void(const HttpOutcome&)> callback) {
    context_.on_outcome = std::move(callback);
  }
  void post(std::function<void()> work) { asio::post(context_.io, std::move(work)); }
  void run_after(std::chrono::milliseconds delay, std::function<void()> work) {
    auto timer = std::make_shared<asio::steady_timer>(context_.io, delay);
    timer->async_wait([timer, work = std::move(work)](const error_code& error) {
      if (!error) work();
    });
  }

 private:
  // What is added up in the event: stops in the lower half, reloads in the upper.
  static constexpr uint64_t kStop = 1;
  static constexpr uint64_t kReload = uint64_t{1} << 32;

  void signal(uint64_t what) {
    const int saved = errno;
    [[maybe_unused]] const auto n = ::write(event_.native_handle(), &what, sizeof what);
    errno = saved;
  }

  void listen() {
    endpoint_ = resolve(context_.io, context_.options.host, context_.options.port);
    error_code error;
    const auto check = [&](const error_code& result) {
      if (!result) return;
      throw Error(ErrorCode::kIo, fmt::format("can't listen on {}: {}", url(), bind_advice(result)), "port");
    };
    check(acceptor_.open(endpoint_.protocol(), error));
    check(acceptor_.set_option(tcp::acceptor::reuse_address(true), error));
    if (endpoint_.address().is_v6()) check(acceptor_.set_option(asio::ip::v6_only(false), error));
    check(acceptor_.bind(endpoint_, error));
    check(acceptor_.listen(tcp::acceptor::max_listen_connections, error));
    endpoint_ = acceptor_.local_endpoint();
  }

  asio::awaitable<void> accept() {
    asio::steady_timer pause(context_.io);
    while (acceptor_.is_open()) {
      if (context_.n_connections >= context_.options.max_connections) {
        co_await context_.connection_closed.wait();
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
    error_code error;
    ignore(socket.set_option(tcp::no_delay(true), error));
    notice_dead_peer(socket.native_handle());
    const auto connection = std::make_shared<Connection>(context_, std::move(socket));
    ++context_.n_connections;
    asio::co_spawn(context_.io, [connection] { return connection->pump(); }, report);
    asio::co_spawn(
        context_.io, [connection] { return connection->serve(); },
        [this, connection](const std::exception_ptr& failure) {
          report(failure);
          connection->close();
          connection->end_busy();
          --context_.n_connections;
          context_.connection_closed.notify();
        });
  }

  // A peer that has gone without a word (its machine, its network) acknowledges nothing: neither what is
  // sent to it nor, where nothing is, the system's own probes.
  void notice_dead_peer(int socket) const {
    const auto set = [socket](int level, int option, int value) {
      ::setsockopt(socket, level, option, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
    set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeAfterSeconds);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(context_.options.write_timeout.count()));
  }

  static void report(const std::exception_ptr& failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("on a connection: {}", error.what());
    }
  }

  asio::awaitable<void> watch_events() {
    for (uint64_t n_stops = 0; n_stops < 2;) {
      error_code error;
      co_await event_.async_wait(asio::posix::stream_descriptor::wait_read,
                                 asio::redirect_error(asio::use_awaitable, error));
      uint64_t signals = 0;
      if (error || ::read(event_.native_handle(), &signals, sizeof signals) < 0) continue;
      if (signals >= kReload && on_reload_) on_reload_();
      n_stops += signals % kReload;
      if (n_stops > 0 && !context_.stopping) stop();
    }
    context_.io.stop();
  }

  void stop() {
    context_.stopping = true;
    error_code error;
    ignore(acceptor_.close(error));
    if (on_stop_) on_stop_();
    if (context_.n_busy == 0) context_.io.stop();
  }

  ConnectionContext context_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::posix::stream_descriptor event_;
  std::function<void()> on_stop_, on_reload_;
};

HttpServer::HttpServer(HttpOptions options, Handler handler, ErrorResponder error_responder)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler), std::move(error_responder))) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  return impl_->port();
}
std::string HttpServer::url() const {
  return impl_->url();
}
void HttpServer::run() {
  impl_->run();
}
void HttpServer::request_stop() {
  impl_->request_stop();
}
void HttpServer::on_stop(std::function<void()> callback) {
  impl_->on_stop(std::move(callback));
}
void HttpServer::request_reload() {
  impl_->request_reload();
}
void HttpServer::on_reload(std::function<void()> callback) {
  impl_->on_reload(std::move(callback));
}
void HttpServer::on_head(std::function<void(const HttpRequest&, HttpResponse&)> callback) {
  impl_->on_head(std::move(callback));
}
void HttpServer::on_outcome(std::function<void(const HttpOutcome&)> callback) {
  impl_->on_outcome(std::move(callback));
}
void HttpServer::post(std::function<void()> work) {
  impl_->post(std::move(work));
}
void HttpServer::run_after(std::chrono::milliseconds delay, std::function<void()> work) {
  impl_->run_after(delay, std::move(work));
}

}  // namespace qwick
