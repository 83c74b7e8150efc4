// A server of our own for a measurement: `qwick serve` as a child process on a free port.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace qwick::cli {

class ServerProcess {
 public:
  // Starts this program with "serve" and these arguments, and waits until it is ready. Throws Error kIo when
  // it ends before; what it had to say is on standard error by then.
  explicit ServerProcess(std::vector<std::string> arguments);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // stops it

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }
  double ready_seconds() const { return ready_seconds_; }

 private:
  void stop();

  pid_t pid_ = -1;
  int output_ = -1;  // what it prints
  std::string url_;
  double ready_seconds_ = 0;
};

}  // namespace qwick::cli
