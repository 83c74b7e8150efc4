#include "server/service_manager.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/log.h"

namespace qwick {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<uint64_t> environment_number(const char* name) {
  const std::string text = environment(name);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t monotonic_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

}  // namespace

ServiceManager::ServiceManager() : address_(environment("NOTIFY_SOCKET")) {
  if (address_.empty()) return;
  const bool is_known_kind = address_[0] == '/' || address_[0] == '@';
  if (!is_known_kind || address_.size() >= sizeof(sockaddr_un::sun_path)) {
    log::warn("NOTIFY_SOCKET is no address of a Unix socket; systemd is told nothing");
    address_.clear();
    return;
  }
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto interval = environment_number("WATCHDOG_USEC");
  const auto pid = environment_number("WATCHDOG_PID");
  const bool is_for_us = !pid || *pid == static_cast<uint64_t>(::getpid());
  if (interval && *interval > 0 && is_for_us) watchdog_interval_ = std::chrono::microseconds(*interval / 2);
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::notify_ready() const {
  send("READY=1");
}
void ServiceManager::notify_reloading() const {
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_microseconds()));
}
void ServiceManager::notify_stopping() const {
  send("STOPPING=1");
}
void ServiceManager::notify_alive() const {
  send("WATCHDOG=1");
}

void ServiceManager::send(std::string_view state) const {
  if (socket_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';  // abstract: no file, and no terminator
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  if (::sendto(socket_, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
               length) < 0) {
    log::warn("systemd can't be told {}: {}", state.substr(0, state.find('\n')), std::strerror(errno));
  }
}

bool EngineWatch::is_alive(const EngineStats& now) {
  const bool is_busy = now.n_running + now.n_waiting > 0;
  const bool is_stuck = was_busy_ && is_busy && now.n_steps == n_steps_;
  was_busy_ = is_busy;
  n_steps_ = now.n_steps;
  return !is_stuck;
}

}  // namespace qwick
