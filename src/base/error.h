// The one exception of qwick, for what can go wrong outside our code: files, requests, settings.
// Thrown while loading, parsing or validating; caught in main and at the HTTP boundary.
// Bugs of our own are CHECKs (base/check.h).
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace qwick {

enum class ErrorCode {
  kInvalidArgument,  // a request or an option asks for what makes no sense
  kInvalidFile,      // a model file is broken
  kUnsupported,      // well-formed, but nothing that qwick can do
  kNotFound,
  kIo,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, std::string field = {})
      : std::runtime_error(message), code_(code), field_(std::move(field)) {}

  ErrorCode code() const { return code_; }
  // The request field or option at fault, "" where there is none. The message names it as well.
  const std::string& field() const { return field_; }

 private:
  ErrorCode code_;
  std::string field_;
};

// Throws Error with a formatted message: one line, what is wrong and where, then what to do.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void invalid_file(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidFile, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace qwick
