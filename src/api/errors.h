// Errors as a client of the API sees them: an HTTP status and OpenAI's error object.
// ApiError is thrown while a request is read and prepared, and turned into an answer in server/.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace qwick::api {

class ApiError : public std::runtime_error {
 public:
  // `param`: the request field at fault, `code`: a name that programs can test; "" gives null.
  ApiError(int status, const std::string& message, std::string param = {}, std::string code = {})
      : std::runtime_error(message), status_(status), param_(std::move(param)), code_(std::move(code)) {}

  int status() const { return status_; }
  const std::string& param() const { return param_; }
  const std::string& code() const { return code_; }

  // Seconds after which trying again makes sense, for 429 and 503.
  int retry_after() const { return retry_after_; }
  ApiError with_retry_after(int seconds) && {
    retry_after_ = seconds;
    return std::move(*this);
  }

 private:
  int status_;
  std::string param_;
  std::string code_;
  int retry_after_ = 1;
};

// OpenAI's name for a kind of error: 400 "invalid_request_error", 401 "authentication_error", ...
std::string_view error_type(int status);

// {"error":{"message":…,"type":…,"param":…,"code":…}}
std::string error_body(const ApiError& error);

// What a layer below refused: the client's doing (400), or ours (500, with no detail told).
ApiError from_error(const Error& error, const std::string& param);

// Throws the ApiError 400 whose message opens with the field's name.
template <typename... Args>
[[noreturn]] void invalid_field(const std::string& field, fmt::format_string<Args...> format,
                                Args&&... args) {
  throw ApiError(400, field + ": " + fmt::format(format, std::forward<Args>(args)...), field);
}

}  // namespace qwick::api
