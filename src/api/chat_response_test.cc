#include "api/chat_response.h"

#include <gtest/gtest.h>

#include "api/errors.h"

namespace qwick::api {
namespace {

const AnswerHeader kHeader{"chatcmpl-1", 1700000000, "Qwen-0.6B"};
const Usage kUsage{10, 4, 7, 3};
const Json kUsageJson = Json::parse(
    R"({"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4},
        "completion_tokens_details":{"reasoning_tokens":3}})");

TEST(ChatResponse, WritesWholeAnswers) {
  EXPECT_EQ(Json::parse(chat_completion(kHeader, {"", "你好\n"}, "stop", kUsage)),
            (Json{{"id", "chatcmpl-1"},
                  {"object", "chat.completion"},
                  {"created", 1700000000},
                  {"model", "Qwen-0.6B"},
                  {"choices", Json::parse(R"([{"index":0,"message":{"role":"assistant","content":"你好\n",
                      "refusal":null},"logprobs":null,"finish_reason":"stop"}])")},
                  {"usage", kUsageJson}}));
  const Json thought = Json::parse(chat_completion(kHeader, {"hm", ""}, "length", kUsage));
  EXPECT_EQ(thought["choices"][0]["message"]["reasoning_content"], "hm");
  EXPECT_EQ(thought["choices"][0]["message"]["content"], "");
  EXPECT_EQ(thought["choices"][0]["finish_reason"], "length");
}

Json chunk(const char* delta, const char* finish_reason) {
  return Json::parse(std::string(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,
      "model":"Qwen-0.6B","choices":[{"index":0,"delta":)") +
                     delta + R"(,"logprobs":null,"finish_reason":)" + finish_reason + "}]}");
}

TEST(ChatResponse, WritesChunks) {
  const ChatChunks chunks(kHeader, false);
  EXPECT_EQ(Json::parse(chunks.start()), chunk(R"({"role":"assistant","content":""})", "null"));
  EXPECT_EQ(Json::parse(chunks.delta({"", "a"})), chunk(R"({"content":"a"})", "null"));
  EXPECT_EQ(Json::parse(chunks.delta({"r", ""})), chunk(R"({"reasoning_content":"r"})", "null"));
  EXPECT_EQ(Json::parse(chunks.delta({"r", "a"})),
            chunk(R"({"reasoning_content":"r","content":"a"})", "null"));
  EXPECT_EQ(Json::parse(chunks.finish("stop")), chunk("{}", "\"stop\""));
}

TEST(ChatResponse, WritesUsageChunksWhenAsked) {
  const ChatChunks chunks(kHeader, true);
  EXPECT_TRUE(Json::parse(chunks.start()).at("usage").is_null());
  EXPECT_TRUE(Json::parse(chunks.finish("stop")).at("usage").is_null());
  const Json usage = Json::parse(chunks.usage(kUsage));
  EXPECT_EQ(usage["choices"], Json::array());
  EXPECT_EQ(usage["usage"], kUsageJson);
}

TEST(ChatResponse, ListsModels) {
  EXPECT_EQ(Json::parse(model_list({"a", "b"}, 5, 4096)), Json::parse(R"({"object":"list","data":[
      {"id":"a","object":"model","created":5,"owned_by":"qwick","max_model_len":4096},
      {"id":"b","object":"model","created":5,"owned_by":"qwick","max_model_len":4096}]})"));
}

TEST(Errors, HaveOpenAisShape) {
  EXPECT_EQ(
      Json::parse(error_body({400, "top_p: no", "top_p"})),
      Json::parse(
          R"({"error":{"message":"top_p: no","type":"invalid_request_error","param":"top_p","code":null}})"));
  EXPECT_EQ(
      Json::parse(error_body({404, "no", "model", "model_not_found"})),
      Json::parse(
          R"({"error":{"message":"no","type":"not_found_error","param":"model","code":"model_not_found"}})"));
  const std::vector<std::pair<int, std::string>> types = {
      {401, "authentication_error"}, {405, "invalid_request_error"}, {413, "invalid_request_error"},
      {429, "rate_limit_error"},     {500, "server_error"},          {503, "unavailable_error"}};
  for (const auto& [status, type] : types) EXPECT_EQ(error_type(status), type);
  // Text cut in the middle of a character doesn't make the error fail.
  EXPECT_NO_THROW(error_body({400, "\xE4\xBD"}));
}

TEST(Errors, OfLowerLayersAreTheClientsOrOurs) {
  EXPECT_EQ(from_error(Error(ErrorCode::kInvalidArgument, "raised"), "messages").param(), "messages");
  EXPECT_EQ(from_error(Error(ErrorCode::kInvalidArgument, "x", "f"), "messages").param(), "f");
  const ApiError ours = from_error(Error(ErrorCode::kIo, "/secret/path"), "messages");
  EXPECT_EQ(ours.status(), 500);
  EXPECT_EQ(std::string(ours.what()).find("secret"), std::string::npos);
}

}  // namespace
}  // namespace qwick::api
