#include "api/errors.h"

#include "base/json.h"

namespace qwick::api {
namespace {

Json string_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

std::string_view error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "unavailable_error";
    case 504:
      return "timeout_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string error_body(const ApiError& error) {
  const Json body = {{"error",
                      {{"message", error.what()},
                       {"type", error_type(error.status())},
                       {"param", string_or_null(error.param())},
                       {"code", string_or_null(error.code())}}}};
  // Messages may quote what was sent, cut anywhere: never let that fail.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ApiError from_error(const Error& error, const std::string& param) {
  if (error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnsupported) {
    return {400, error.what(), error.field().empty() ? param : error.field()};
  }
  return {500, "internal error; the server's log says more"};
}

}  // namespace qwick::api
