// The table from method and path to handler, and what is the same for all of them: unknown paths,
// wrong methods, HEAD, OPTIONS, API keys, and exceptions turned into OpenAI's error object.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/errors.h"
#include "server/api_keys.h"
#include "server/http.h"

namespace qwick {

HttpResponse error_response(const api::ApiError& error);

// The key of "Authorization: Bearer KEY"; "" where there is none.
std::string_view api_key(const HttpRequest& request);
// What follows `prefix` in the path, "%2F" and the like decoded.
std::string path_below(const HttpRequest& request, std::string_view prefix);

class Routes {
 public:
  using Handler = std::function<void(const std::shared_ptr<HttpExchange>&)>;

  // The keys outlive this.
  explicit Routes(const ApiKeys& keys) : keys_(keys) {}

  // A path that ends in "/*" stands for all below it.
  enum class Access { kOpen, kWithKey };
  void add(std::string method, std::string path, Access access, Handler handler);

  // Never throws: what a handler throws is the answer, or the end of one that has begun.
  void dispatch(const std::shared_ptr<HttpExchange>& exchange) const;

  std::string allowed_methods(std::string_view path) const;  // "GET, HEAD, OPTIONS"; "" for no such path
  std::string_view known_path(std::string_view path) const;  // the path as it was added; "" for no such path

 private:
  struct Route {
    std::string method;
    std::string path;
    Access access;
    Handler handler;
  };

  const Route& find(const HttpRequest& request) const;  // throws ApiError 404, 405
  void check_key(const HttpRequest& request) const;     // throws ApiError 401

  std::vector<Route> routes_;
  const ApiKeys& keys_;
};

}  // namespace qwick
