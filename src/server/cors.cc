#include "server/cors.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace qwick {
namespace {

constexpr const char* kMaxAgeSeconds = "7200";  // the most that browsers take
constexpr size_t kMaxHeaderNames = 2048;        // bytes of a list that is sent back

bool is_origin(std::string_view text) {
  const size_t scheme = text.find("://");
  if (scheme == 0 || scheme == std::string_view::npos) return false;
  const std::string_view host = text.substr(scheme + 3);
  return !host.empty() && host.find_first_of("/?# \r\n\"") == std::string_view::npos;
}

// Names of headers, commas between them; anything else is not sent back.
bool is_header_list(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == ',' || c == ' ';
  };
  return text.size() <= kMaxHeaderNames && std::all_of(text.begin(), text.end(), is_plain);
}

}  // namespace

Cors::Cors(std::vector<std::string> origins) : origins_(std::move(origins)) {
  for (const std::string& origin : origins_) {
    if (origin == "*") {
      allows_all_ = true;
    } else if (!is_origin(origin)) {
      fail(ErrorCode::kInvalidArgument,
           "--cors-origin {}: an origin is SCHEME://HOST or SCHEME://HOST:PORT with nothing after it, or *",
           origin);
    }
  }
}

bool Cors::allows(std::string_view origin) const {
  return allows_all_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

void Cors::add_headers(const HttpRequest& request, HttpResponse& response) const {
  if (origins_.empty()) return;
  if (!allows_all_) response.headers.push_back({"Vary", "Origin"});  // whoever the answer is for
  const std::string_view origin = request.header("Origin");
  if (origin.empty() || !allows(origin)) return;
  response.headers.push_back({"Access-Control-Allow-Origin", allows_all_ ? "*" : std::string(origin)});
  response.headers.push_back({"Access-Control-Expose-Headers", "Retry-After"});
}

std::optional<HttpResponse> Cors::preflight(const HttpRequest& request, const std::string& methods) const {
  const bool is_asked = request.method == "OPTIONS" && !request.header("Origin").empty() &&
                        !request.header("Access-Control-Request-Method").empty();
  if (!is_asked || methods.empty() || !allows(request.header("Origin"))) return std::nullopt;
  HttpResponse response{204, "", ""};
  response.headers = {{"Access-Control-Allow-Methods", methods}, {"Access-Control-Max-Age", kMaxAgeSeconds}};
  // "*" would not include Authorization, so what is asked for is named.
  const std::string_view asked = request.header("Access-Control-Request-Headers");
  if (!asked.empty() && is_header_list(asked))
    response.headers.push_back({"Access-Control-Allow-Headers", std::string(asked)});
  return response;
}

}  // namespace qwick
