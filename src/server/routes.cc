#include "server/routes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"

namespace qwick {
namespace {

// "/health/" is "/health".
std::string_view without_trailing_slash(std::string_view path) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Is this the path of the route, "/*" at whose end stands for all below?
bool matches(std::string_view route, std::string_view path) {
  if (!route.ends_with("/*")) return route == path;
  route.remove_suffix(1);
  return path.size() > route.size() && path.starts_with(route);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view api_key(const HttpRequest& request) {
  std::string_view authorization = request.header("Authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  const bool is_bearer =
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b); });
  if (!is_bearer) return {};
  authorization.remove_prefix(
      std::min(authorization.find_first_not_of(' ', kScheme.size()), authorization.size()));
  return authorization;
}

std::string path_below(const HttpRequest& request, std::string_view prefix) {
  std::string_view rest = without_trailing_slash(request.path);
  rest.remove_prefix(std::min(prefix.size(), rest.size()));
  std::string decoded;
  for (size_t i = 0; i < rest.size(); ++i) {
    const int high = rest[i] == '%' && i + 2 < rest.size() ? hex_digit(rest[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(rest[i + 2]) : -1;
    decoded += low < 0 ? rest[i] : static_cast<char>(high * 16 + low);
    if (low >= 0) i += 2;
  }
  return decoded;
}

HttpResponse error_response(const api::ApiError& error) {
  HttpResponse response{error.status(), api::error_body(error)};
  if (error.status() == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (error.status() == 429 || error.status() == 503)
    response.headers.push_back({"Retry-After", std::to_string(error.retry_after())});
  // What took too long would do so again: the openai SDKs are told not to try on their own.
  if (error.status() == 504) response.headers.push_back({"x-should-retry", "false"});
  return response;
}

void Routes::add(std::string method, std::string path, Access access, Handler handler) {
  routes_.push_back({std::move(method), std::move(path), access, std::move(handler)});
}

std::string_view Routes::known_path(std::string_view path) const {
  path = without_trailing_slash(path);
  const auto found =
      std::find_if(routes_.begin(), routes_.end(), [&](const Route& r) { return matches(r.path, path); });
  return found == routes_.end() ? std::string_view() : found->path;
}

std::string Routes::allowed_methods(std::string_view path) const {
  path = without_trailing_slash(path);
  std::string methods;
  for (const Route& route : routes_) {
    if (matches(route.path, path)) methods += route.method + (route.method == "GET" ? ", HEAD, " : ", ");
  }
  return methods.empty() ? methods : methods + "OPTIONS";
}

const Routes::Route& Routes::find(const HttpRequest& request) const {
  const std::string_view path = without_trailing_slash(request.path);
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  bool path_exists = false;
  for (const Route& route : routes_) {
    if (!matches(route.path, path)) continue;
    if (route.method == method) return route;
    path_exists = true;
  }
  // The path is the client's text: cut to a length that is fit for a message.
  const std::string shown(path.substr(0, 100));
  if (!path_exists) throw api::ApiError(404, fmt::format("there is nothing at {}", shown), {}, "unknown_url");
  throw api::ApiError(405, fmt::format("{} can't be used on {}; allowed: {}", request.method.substr(0, 20),
                                       shown, allowed_methods(path)));
}

void Routes::check_key(const HttpRequest& request) const {
  if (!keys_.needs_key()) return;
  const std::string_view token = api_key(request);
  if (keys_.knows(token)) return;
  throw api::ApiError(401,
                      token.empty() ? "an API key is needed: send \"Authorization: Bearer KEY\""
                                    : "the API key is not one that this server knows",
                      {}, "invalid_api_key");
}

void Routes::dispatch(const std::shared_ptr<HttpExchange>& exchange) const {
  const HttpRequest& request = exchange->request();
  const std::string_view path = without_trailing_slash(request.path);
  try {
    if (request.method == "OPTIONS") {
      const std::string methods = path == "*" ? "GET, HEAD, POST, OPTIONS" : allowed_methods(path);
      if (methods.empty()) throw api::ApiError(404, "there is nothing at this path", {}, "unknown_url");
      exchange->respond({204, "", "", {{"Allow", methods}}});
      return;
    }
    const Route& route = find(request);
    if (route.access == Access::kWithKey) check_key(request);
    route.handler(exchange);
  } catch (const api::ApiError& error) {
    HttpResponse response = error_response(error);
    if (error.status() == 405) response.headers.push_back({"Allow", allowed_methods(path)});
    exchange->respond(std::move(response));
  } catch (const std::exception& error) {
    log::error("{} {}: {}", request.method, path, error.what());
    exchange->respond(error_response({500, "internal error; the server's log says more"}));
    exchange->abort();  // nothing, unless the answer had begun
  }
}

}  // namespace qwick
