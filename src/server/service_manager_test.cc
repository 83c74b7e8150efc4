// The datagrams that systemd would get.
#include "server/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace qwick {
namespace {

// A Unix socket that is listened to, and the environment that names it.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& address) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (at.sun_path[0] == '@') at.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), length), 0);
    ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
  }
  ~NotifySocket() {
    ::close(socket_);
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  std::string received() const {
    char text[256];
    const ssize_t n = ::recv(socket_, text, sizeof text, 0);
    return n < 0 ? "" : std::string(text, static_cast<size_t>(n));
  }

 private:
  int socket_ = -1;
};

std::string abstract_address() {
  return "@qwick-test-" + std::to_string(::getpid());
}

TEST(ServiceManager, TellsAPathAndAnAbstractSocket) {
  const std::string path = std::filesystem::temp_directory_path() / ("notify-" + std::to_string(::getpid()));
  for (const std::string& address : {path, abstract_address()}) {
    const NotifySocket socket(address);
    const ServiceManager manager;
    manager.notify_ready();
    EXPECT_EQ(socket.received(), "READY=1");
    manager.notify_reloading();
    EXPECT_TRUE(socket.received().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    manager.notify_alive();
    EXPECT_EQ(socket.received(), "WATCHDOG=1");
    manager.notify_stopping();
    EXPECT_EQ(socket.received(), "STOPPING=1");
    EXPECT_FALSE(manager.watchdog_interval());
  }
  std::filesystem::remove(path);
}

TEST(ServiceManager, WatchdogIsForThisProcessAlone) {
  const NotifySocket socket(abstract_address());
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::chrono::microseconds(1'500'000));
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_TRUE(ServiceManager().watchdog_interval());
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(ServiceManager().watchdog_interval());
  ::unsetenv("WATCHDOG_PID");
  for (const char* odd : {"", "0", "-5", "soon", "99999999999999999999999"}) {
    ::setenv("WATCHDOG_USEC", odd, 1);
    EXPECT_FALSE(ServiceManager().watchdog_interval()) << odd;
  }
}

TEST(ServiceManager, NobodyListens) {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager().notify_ready();
  const std::string too_long = "/" + std::string(200, 'x');
  for (const std::string& address : {std::string("relative"), std::string("/no/such/socket"), too_long}) {
    ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
    ServiceManager().notify_ready();  // a warning, no more
  }
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(EngineWatch, StuckIsBusyWithoutSteps) {
  EngineWatch watch;
  EngineStats stats;
  EXPECT_TRUE(watch.is_alive(stats));
  EXPECT_TRUE(watch.is_alive(stats));  // idle
  stats.n_waiting = 1;
  EXPECT_TRUE(watch.is_alive(stats));  // it has only just begun
  EXPECT_FALSE(watch.is_alive(stats));
  EXPECT_FALSE(watch.is_alive(stats));
  ++stats.n_steps;
  EXPECT_TRUE(watch.is_alive(stats));
  EXPECT_FALSE(watch.is_alive(stats));
  stats.n_waiting = 0;
  EXPECT_TRUE(watch.is_alive(stats));
}

}  // namespace
}  // namespace qwick
