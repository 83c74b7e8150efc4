#include "cli/server_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace qwick::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A line of the output; "" at its end.
std::string read_line(int descriptor) {
  std::string line;
  for (char c = 0; ::read(descriptor, &c, 1) == 1;) {
    line += c;
    if (c == '\n') break;
  }
  return line;
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> arguments) {
  for (const char* argument : {"0", "--port", "127.0.0.1", "--host", "serve", "qwick"})
    arguments.insert(arguments.begin(), argument);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorCode::kIo, "pipe: {}", std::strerror(errno));
  output_ = ends[0];
  const Clock::time_point start = Clock::now();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // no server is left over, however the measurement ends
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (pid_ < 0) {
    ::close(output_);
    fail(ErrorCode::kIo, "fork: {}", std::strerror(errno));
  }
  // It prints "Loading the model; URL/health/ready says ..." and, when it is ready, "Listening on URL/v1".
  for (std::string line = read_line(output_); !line.empty(); line = read_line(output_)) {
    constexpr std::string_view kListening = "Listening on ";
    if (!line.starts_with(kListening)) continue;
    ready_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    url_ = line.substr(kListening.size(), line.find("/v1") - kListening.size());
    return;
  }
  stop();
  fail(ErrorCode::kIo, "the server to measure did not start");
}

ServerProcess::~ServerProcess() {
  stop();
}

void ServerProcess::stop() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
  ::close(output_);
}

}  // namespace qwick::cli
