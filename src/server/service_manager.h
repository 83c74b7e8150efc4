// What systemd wants to hear from a service with Type=notify: datagrams to the socket in $NOTIFY_SOCKET, as
// sd_notify(3) describes them. Owned by Server; without that variable nothing is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/engine.h"

namespace qwick {

class ServiceManager {
 public:
  // Reads $NOTIFY_SOCKET (a path, or @NAME for an abstract one), $WATCHDOG_USEC and $WATCHDOG_PID.
  ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager();

  // How often it wants to hear that we live; nothing: never.
  std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_interval_; }

  void notify_ready() const;
  void notify_reloading() const;  // until notify_ready()
  void notify_stopping() const;
  void notify_alive() const;  // half the interval after the last one

 private:
  void send(std::string_view state) const;

  std::string address_;  // "": nobody listens
  int socket_ = -1;
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

// Tells an engine that works from one that is stuck.
class EngineWatch {
 public:
  // Has a step ended since the last call, or is there nothing to do?
  bool is_alive(const EngineStats& now);

 private:
  uint64_t n_steps_ = 0;
  bool was_busy_ = false;
};

}  // namespace qwick
