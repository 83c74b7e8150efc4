// What the server's tests share. Tests only.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "server/http.h"

namespace qwick {

// An exchange without a connection: keeps what it is given.
class FakeExchange : public HttpExchange {
 public:
  explicit FakeExchange(std::chrono::steady_clock::time_point received = {}) { request_.received = received; }

  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override { sent += response.body; }
  void start_stream(HttpResponse /*head*/) override {}
  void write(std::string_view bytes) override { sent += bytes; }
  void finish() override { is_finished = true; }
  void abort() override {}
  size_t unsent_bytes() const override { return unsent; }
  void on_drained(std::function<void()> /*callback*/) override {}
  void on_left(std::function<void()> /*callback*/) override {}

  std::string take() { return std::exchange(sent, {}); }

  std::string sent;
  size_t unsent = 0;
  bool is_finished = false;

 private:
  HttpRequest request_;
};

}  // namespace qwick
