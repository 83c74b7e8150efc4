// Who may call: API keys and origins.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "server/api_keys.h"
#include "server/cors.h"
#include "server/deadlines.h"

namespace qwick {
namespace {

class KeyFile {
 public:
  explicit KeyFile(const std::string& text) { write(text); }
  ~KeyFile() { std::filesystem::remove(path_); }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "keys-" + std::to_string(::getpid());
};

TEST(ApiKeys, FixedOnesAndThoseOfTheFile) {
  const KeyFile file("# ours\n\n  alpha \r\nbeta\n#gamma\ndelta");
  const ApiKeys keys({"fixed"}, file.path());
  EXPECT_TRUE(keys.needs_key());
  EXPECT_EQ(keys.size(), 4U);
  for (const char* key : {"fixed", "alpha", "beta", "delta"}) EXPECT_TRUE(keys.knows(key)) << key;
  for (const char* key :
       {"", "gamma", "#gamma", "# ours", "alph", "alphaa", "alphaalpha", "Alpha", "fixedfixed"})
    EXPECT_FALSE(keys.knows(key)) << key;
  EXPECT_FALSE(ApiKeys({}, "").needs_key());
}

TEST(ApiKeys, ReloadTakesAllOrNothing) {
  const KeyFile file("one\n");
  ApiKeys keys({}, file.path());
  file.write("two\nthree\n");
  EXPECT_FALSE(keys.knows("two"));
  keys.reload();
  EXPECT_TRUE(keys.knows("two") && keys.knows("three"));
  EXPECT_FALSE(keys.knows("one"));
  for (const char* broken : {"", "# nothing\n", "four\nbad key\n",
                             "four\nb\x01"
                             "ad\n"}) {
    file.write(broken);
    EXPECT_THROW(keys.reload(), Error) << broken;
    EXPECT_TRUE(keys.knows("two"));
    EXPECT_FALSE(keys.knows("four"));
  }
}

TEST(ApiKeys, WhatLetsEverybodyInIsRefused) {
  EXPECT_THROW(ApiKeys({}, "/no/such/file"), Error);
  EXPECT_THROW(ApiKeys({}, ::testing::TempDir()), Error);
  EXPECT_THROW(ApiKeys({""}, ""), Error);
  EXPECT_THROW(ApiKeys({"a b"}, ""), Error);
}

HttpRequest request(const std::string& method, std::vector<HttpHeader> headers) {
  HttpRequest made;
  made.method = method;
  made.path = "/v1/models";
  made.headers = std::move(headers);
  return made;
}

std::string header(const HttpResponse& response, std::string_view name) {
  for (const HttpHeader& header : response.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

HttpResponse answered(const Cors& cors, const std::string& origin) {
  HttpResponse response;
  cors.add_headers(request("GET", {{"Origin", origin}}), response);
  return response;
}

TEST(Cors, NothingWithoutTheOption) {
  const Cors cors({});
  EXPECT_TRUE(answered(cors, "https://a.example").headers.empty());
  EXPECT_FALSE(cors.preflight(
      request("OPTIONS", {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "GET"}}),
      "GET"));
}

TEST(Cors, NamedOrigins) {
  const Cors cors({"https://a.example", "http://localhost:3000"});
  EXPECT_EQ(header(answered(cors, "https://a.example"), "Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(header(answered(cors, "http://localhost:3000"), "Access-Control-Allow-Origin"),
            "http://localhost:3000");
  for (const char* other :
       {"https://b.example", "http://a.example", "https://a.example:444", "null", "*", ""}) {
    const HttpResponse response = answered(cors, other);
    EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "") << other;
    EXPECT_EQ(header(response, "Vary"), "Origin");  // a cache must not give it to the others
  }
}

TEST(Cors, AllOrigins) {
  const HttpResponse response = answered(Cors({"*"}), "https://b.example");
  EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(header(response, "Vary"), "");
}

TEST(Cors, PreflightNamesMethodsAndTheHeadersAskedFor) {
  const Cors cors({"https://a.example"});
  const auto ask = [&](const std::string& origin, const std::string& headers) {
    return cors.preflight(request("OPTIONS", {{"Origin", origin},
                                              {"Access-Control-Request-Method", "POST"},
                                              {"Access-Control-Request-Headers", headers}}),
                          "POST, OPTIONS");
  };
  const HttpResponse none{500, ""};
  const HttpResponse response =
      ask("https://a.example", "authorization,content-type,x-stainless-os").value_or(none);
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(header(response, "Access-Control-Allow-Methods"), "POST, OPTIONS");
  EXPECT_EQ(header(response, "Access-Control-Allow-Headers"), "authorization,content-type,x-stainless-os");
  EXPECT_EQ(header(response, "Access-Control-Max-Age"), "7200");
  EXPECT_EQ(
      header(ask("https://a.example", "a\r\nSet-Cookie: x").value_or(none), "Access-Control-Allow-Headers"),
      "");
  EXPECT_FALSE(ask("https://b.example", "authorization"));
  EXPECT_FALSE(
      cors.preflight(request("OPTIONS", {{"Origin", "https://a.example"}}), "POST"));  // a plain OPTIONS
}

TEST(Cors, WhatIsNoOrigin) {
  for (const char* text :
       {"", "a.example", "https://", "https://a.example/", "https://a.example/x", "://a", "https://a b"})
    EXPECT_THROW(Cors({text}), Error) << text;
}

TEST(Deadlines, ComeDueInOrder) {
  const Deadlines::Time start{std::chrono::hours(1)};
  Deadlines deadlines;
  EXPECT_FALSE(deadlines.next());
  for (uint64_t id = 1; id <= 3; ++id) deadlines.add(start + std::chrono::seconds(id), id);
  EXPECT_EQ(deadlines.next(), start + std::chrono::seconds(1));
  EXPECT_TRUE(deadlines.take_due(start).empty());
  EXPECT_EQ(deadlines.take_due(start + std::chrono::seconds(2)), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(deadlines.take_due(start + std::chrono::seconds(9)), (std::vector<uint64_t>{3}));
  EXPECT_FALSE(deadlines.next());
}

}  // namespace
}  // namespace qwick
