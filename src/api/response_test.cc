#include "api/response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "api/errors.h"
#include "base/file.h"

namespace qwick::api {
namespace {

const AnswerHeader kHeader{"chatcmpl-1", 1700000000, "Qwen-0.6B"};
const Usage kUsage{10, 4, 7, 3};
const Json kUsageJson = Json::parse(
    R"({"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":4},
        "completion_tokens_details":{"reasoning_tokens":3}})");

const Tokenizer& tokenizer() {
  static const Tokenizer demo = Tokenizer::from_hf(FileSet::directory(QWICK_SOURCE_DIR "/models/demo"));
  return demo;
}

std::unique_ptr<ResponseWriter> chat(WriterOptions options = {}) {
  return make_chat_writer(tokenizer(), kHeader, options);
}

AnswerPiece piece(std::string reasoning, std::string content) {
  return {{std::move(reasoning), std::move(content)}, {}};
}

int32_t id_of(std::string_view bytes) {
  return tokenizer().find_token(bytes).value_or(-1);
}

// A token and the one beside it.
TokenLogprobs likely(int32_t id, float logprob, int32_t other, float other_logprob) {
  return {{id, logprob}, {{other, other_logprob}}};
}

TEST(ChatResponse, WritesWholeAnswers) {
  const auto whole = [](AnswerPiece text, std::string_view finish_reason) {
    const FinishedChoice choice{std::move(text), finish_reason};
    return Json::parse(chat()->whole({&choice, 1}, kUsage));
  };
  EXPECT_EQ(whole(piece("", "你好\n"), "stop"),
            (Json{{"id", "chatcmpl-1"},
                  {"object", "chat.completion"},
                  {"created", 1700000000},
                  {"model", "Qwen-0.6B"},
                  {"choices", Json::parse(R"([{"index":0,"message":{"role":"assistant","content":"你好\n",
                      "refusal":null},"logprobs":null,"finish_reason":"stop"}])")},
                  {"usage", kUsageJson}}));
  const Json thought = whole(piece("hm", ""), "length");
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
  const auto chunks = chat();
  EXPECT_EQ(Json::parse(chunks->start(0)), chunk(R"({"role":"assistant","content":""})", "null"));
  EXPECT_EQ(Json::parse(chunks->delta(0, piece("", "a"))), chunk(R"({"content":"a"})", "null"));
  EXPECT_EQ(Json::parse(chunks->delta(0, piece("r", ""))), chunk(R"({"reasoning_content":"r"})", "null"));
  EXPECT_EQ(Json::parse(chunks->delta(0, piece("r", "a"))),
            chunk(R"({"reasoning_content":"r","content":"a"})", "null"));
  EXPECT_EQ(Json::parse(chunks->finish(0, "stop")), chunk("{}", "\"stop\""));
  EXPECT_EQ(Json::parse(chunks->delta(3, piece("", "a")))["choices"][0]["index"], 3);
}

TEST(ChatResponse, WritesLogprobs) {
  const int32_t a = id_of("a");
  const int32_t half = id_of("\xE4");
  AnswerPiece text = piece("", "a");
  text.logprobs = {likely(a, -0.5F, half, -1.5F)};
  const Json delta = Json::parse(chat({.has_logprobs = true})->delta(0, text));
  EXPECT_EQ(delta["choices"][0]["logprobs"], Json::parse(R"({"content":[{"token":"a","logprob":-0.5,
      "bytes":[97],"top_logprobs":[{"token":"\uFFFD","logprob":-1.5,"bytes":[228]}]}],"refusal":null})"));
}

TEST(CompletionResponse, WritesAnswersAndLogprobs) {
  const int32_t a = id_of("a");
  const int32_t b = id_of("b");
  AnswerPiece text = piece("", "ab");
  text.logprobs = {{{a, std::nanf("")}, {}}, likely(b, -0.5F, a, -1.5F)};
  const FinishedChoice choice{text, "length"};
  const auto writer = [] { return make_completion_writer(tokenizer(), kHeader, {.has_logprobs = true}); };
  const Json whole = Json::parse(writer()->whole({&choice, 1}, kUsage));
  EXPECT_EQ(whole["object"], "text_completion");
  EXPECT_EQ(whole["usage"], kUsageJson);
  const Json logprobs = Json::parse(R"({"tokens":["a","b"],"token_logprobs":[null,-0.5],
      "top_logprobs":[null,{"a":-1.5}],"text_offset":[0,1]})");
  EXPECT_EQ(
      whole["choices"],
      (Json::array({{{"index", 0}, {"text", "ab"}, {"logprobs", logprobs}, {"finish_reason", "length"}}})));
  // Offsets go on from chunk to chunk, for each choice apart.
  const auto stream = writer();
  EXPECT_EQ(stream->start(0), "");
  for (const uint32_t index : {0U, 1U})
    EXPECT_EQ(Json::parse(stream->delta(index, text))["choices"][0]["logprobs"]["text_offset"], Json({0, 1}));
  EXPECT_EQ(Json::parse(stream->delta(1, text))["choices"][0]["logprobs"]["text_offset"], Json({2, 3}));
  EXPECT_EQ(Json::parse(stream->finish(1, "stop"))["choices"][0]["finish_reason"], "stop");
}

TEST(ChatResponse, WritesUsageChunksWhenAsked) {
  const auto chunks = chat({.include_usage = true});
  EXPECT_TRUE(Json::parse(chunks->start(0)).at("usage").is_null());
  EXPECT_TRUE(Json::parse(chunks->finish(0, "stop")).at("usage").is_null());
  const Json usage = Json::parse(chunks->usage(kUsage));
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
