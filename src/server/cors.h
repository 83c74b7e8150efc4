// Cross-origin requests: lets pages of the origins in --cors-origin call the API from a browser. With no
// origins nothing is added to any answer. Owned by Server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.h"

namespace qwick {

class Cors {
 public:
  // Origins as browsers send them ("https://chat.example"), or "*" for all. Throws Error for what can be
  // none.
  explicit Cors(std::vector<std::string> origins);

  // Adds what lets the browser hand the answer to the page.
  void add_headers(const HttpRequest& request, HttpResponse& response) const;
  // The answer to a browser that asks before it sends; nothing when this is no such question. `methods`:
  // those that the path knows.
  std::optional<HttpResponse> preflight(const HttpRequest& request, const std::string& methods) const;

 private:
  bool allows(std::string_view origin) const;

  std::vector<std::string> origins_;
  bool allows_all_ = false;
};

}  // namespace qwick
