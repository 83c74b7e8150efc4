#include "api/chat_request.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/errors.h"

namespace qwick::api {
namespace {

// A request with one message and `more` members: "\"top_k\":3".
std::string body(const std::string& more = {}) {
  return R"({"messages":[{"role":"user","content":"hi"}])" + (more.empty() ? "" : "," + more) + "}";
}

std::string with_messages(const std::string& messages) {
  return R"({"messages":)" + messages + "}";
}

// The error that a body gives; fails the test when it gives none.
ApiError error_of(const std::string& text) {
  try {
    parse_chat_request(text);
  } catch (const ApiError& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 200);
  return {0, ""};
}

TEST(ChatRequest, ReadsAllFields) {
  const ChatRequest request = parse_chat_request(R"({
    "model": "Qwen-0.6B",
    "messages": [{"role": "system", "content": "be short"}, {"role": "user", "content": "hi"}],
    "temperature": 0.5, "top_p": 0.9, "top_k": 50, "min_p": 0.05, "repetition_penalty": 1.1, "seed": -7,
    "stop": ["a", "b"], "max_completion_tokens": 12, "stream": true, "stream_options": {"include_usage": true},
    "use_cache": false, "enable_thinking": false, "chat_template_kwargs": {"enable_thinking": false, "x": [1]},
    "n": 1, "user": "u", "metadata": {"a": "b"}, "tools": [], "tool_choice": "auto", "logprobs": false,
    "response_format": {"type": "text"}, "presence_penalty": 0.0})");
  EXPECT_EQ(request.model, "Qwen-0.6B");
  EXPECT_EQ(request.messages,
            Json::parse(R"([{"role":"system","content":"be short"},{"role":"user","content":"hi"}])"));
  EXPECT_EQ(request.sampling.temperature, 0.5);
  EXPECT_EQ(request.sampling.top_p, 0.9);
  EXPECT_EQ(request.sampling.top_k, 50);
  EXPECT_EQ(request.sampling.min_p, 0.05);
  EXPECT_EQ(request.sampling.repetition_penalty, 1.1);
  EXPECT_EQ(request.sampling.seed, -7);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.max_tokens, 12U);
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.include_usage);
  EXPECT_FALSE(request.use_cache);
  EXPECT_EQ(request.enable_thinking, false);
  EXPECT_EQ(request.template_variables, Json::parse(R"({"x":[1]})"));
  EXPECT_TRUE(request.unknown_fields.empty());
}

TEST(ChatRequest, HasDefaults) {
  const ChatRequest request = parse_chat_request(body());
  EXPECT_EQ(request.model, "");
  EXPECT_FALSE(request.sampling.temperature || request.sampling.top_p || request.sampling.top_k ||
               request.sampling.min_p || request.sampling.repetition_penalty || request.sampling.seed);
  EXPECT_TRUE(request.stop.empty());
  EXPECT_FALSE(request.max_tokens || request.enable_thinking);
  EXPECT_FALSE(request.stream || request.include_usage);
  EXPECT_TRUE(request.use_cache);
}

TEST(ChatRequest, TakesNullForAbsent) {
  const ChatRequest request = parse_chat_request(body(
      R"("model":null,"temperature":null,"top_p":null,"top_k":null,"min_p":null,"repetition_penalty":null,"seed":null,
         "stop":null,"max_tokens":null,"stream":null,"stream_options":null,"use_cache":null,"enable_thinking":null,
         "chat_template_kwargs":null,"n":null,"tools":null,"tool_choice":null,"response_format":null,"logprobs":null)"));
  EXPECT_FALSE(request.sampling.temperature || request.max_tokens || request.stream ||
               request.enable_thinking);
}

TEST(ChatRequest, RefusesWhatIsNoObject) {
  for (const char* text :
       {"", "{", "[]", "1", "null", R"("x")", "{\"messages\":NaN}", "\xFF", "{} {}", "{'a':1}",
        R"({"messages":[{"role":"user","content":"\ud800"}]})", "{\"temperature\":1e999}"}) {
    EXPECT_EQ(error_of(text).status(), 400) << text;
  }
  // The parser would take a NUL for the end.
  for (const std::string& text : {body() + '\0', body() + std::string("\0{}", 3), '\0' + body()})
    EXPECT_EQ(error_of(text).status(), 400) << text.size();
  const std::string deep = R"({"messages":)" + std::string(100'000, '[');
  EXPECT_NE(std::string(error_of(deep).what()).find("nested deeper"), std::string::npos);
}

TEST(ChatRequest, TakesTimeInProportionToTheBody) {
  std::string many = "\"f0\":0";
  for (int i = 1; i < 300'000; ++i)
    many += ",\"f" + std::to_string(i) + "\":0";  // minutes, were it quadratic
  EXPECT_NO_THROW(parse_chat_request(body(many)));
  EXPECT_EQ(error_of(body("\"chat_template_kwargs\":{" + many + "}")).param(), "chat_template_kwargs");
}

TEST(ChatRequest, RefusesNamesThatComeTwice) {
  EXPECT_EQ(error_of(R"({"messages":[],"messages":[]})").status(), 400);
  EXPECT_EQ(error_of(body(R"("metadata":{"a":1,"b":2,"a":3})")).status(), 400);
}

TEST(ChatRequest, QuotesNothingOfABrokenBody) {
  for (const char* text :
       {R"({"messages": "secret)", R"({"secret" 1})", R"({"a": secret})", "{\"a\": 5ecret}"}) {
    EXPECT_EQ(std::string(error_of(text).what()).find("ecret"), std::string::npos) << error_of(text).what();
  }
}

TEST(ChatRequest, NamesTheFieldThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("model":1)", "model"},
      {R"("temperature":"1")", "temperature"},
      {R"("temperature":-0.1)", "temperature"},
      {R"("temperature":2.1)", "temperature"},
      {R"("top_p":1.01)", "top_p"},
      {R"("top_p":-1)", "top_p"},
      {R"("top_p":[])", "top_p"},
      {R"("top_k":1.5)", "top_k"},
      {R"("top_k":-2)", "top_k"},
      {R"("top_k":4294967296)", "top_k"},
      {R"("top_k":18446744073709551615)", "top_k"},
      {R"("min_p":2)", "min_p"},
      {R"("repetition_penalty":0)", "repetition_penalty"},
      {R"("repetition_penalty":true)", "repetition_penalty"},
      {R"("seed":1.5)", "seed"},
      {R"("seed":9223372036854775808)", "seed"},
      {R"("presence_penalty":2.5)", "presence_penalty"},
      {R"("frequency_penalty":-2.5)", "frequency_penalty"},
      {R"("logit_bias":[])", "logit_bias"},
      {R"("logit_bias":{"x":1})", "logit_bias"},
      {R"("logit_bias":{"-1":1})", "logit_bias"},
      {R"("logit_bias":{"01":1})", "logit_bias"},
      {R"("logit_bias":{"99999999999":1})", "logit_bias"},
      {R"("logit_bias":{"1":101})", "logit_bias.1"},
      {R"("logit_bias":{"1":"2"})", "logit_bias.1"},
      {R"("n":0)", "n"},
      {R"("n":"1")", "n"},
      {R"("n":33)", "n"},
      {R"("n":2,"best_of":1)", "best_of"},
      {R"("best_of":2,"stream":true)", "best_of"},
      {R"("logprobs":5)", "logprobs"},
      {R"("top_logprobs":5)", "top_logprobs"},
      {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
      {R"("min_tokens":-1)", "min_tokens"},
      {R"("min_tokens":3,"max_tokens":2)", "min_tokens"},
      {R"("ignore_eos":1)", "ignore_eos"},
      {R"("stop_token_ids":5)", "stop_token_ids"},
      {R"("stop_token_ids":[-1])", "stop_token_ids[0]"},
      {R"("stop_token_ids":[1,"2"])", "stop_token_ids[1]"},
      {R"("include_stop_str_in_output":"no")", "include_stop_str_in_output"},
      {R"("echo":1)", "echo"},
      {R"("cache_salt":1)", "cache_salt"},
      {R"("continue_final_message":true)", "continue_final_message"},
      {R"("continue_final_message":true,"add_generation_prompt":true)", "add_generation_prompt"},
      {R"("stop":1)", "stop"},
      {R"("stop":"")", "stop"},
      {R"("stop":["a",2])", "stop[1]"},
      {R"("stop":["a",""])", "stop[1]"},
      {R"("stop":{})", "stop"},
      {R"("max_tokens":0)", "max_tokens"},
      {R"("max_tokens":-1)", "max_tokens"},
      {R"("max_tokens":"5")", "max_tokens"},
      {R"("max_tokens":1.0)", "max_tokens"},
      {R"("max_new_tokens":0)", "max_new_tokens"},
      {R"("max_new_tokens":0,"max_completion_tokens":4)", "max_new_tokens"},
      {R"("max_completion_tokens":99999999999)", "max_completion_tokens"},
      {R"("stream":"true")", "stream"},
      {R"("stream":1)", "stream"},
      {R"("stream_options":true)", "stream_options"},
      {R"("stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("use_cache":0)", "use_cache"},
      {R"("enable_thinking":"no")", "enable_thinking"},
      {R"("chat_template_kwargs":[])", "chat_template_kwargs"},
      {R"("chat_template_kwargs":{"enable_thinking":1})", "chat_template_kwargs.enable_thinking"},
      {R"("chat_template_kwargs":{"messages":[]})", "chat_template_kwargs.messages"},
      {R"("enable_thinking":true,"chat_template_kwargs":{"enable_thinking":false})", "enable_thinking"},
  };
  for (const auto& [more, field] : cases) {
    const ApiError error = error_of(body(more));
    EXPECT_EQ(error.status(), 400) << more;
    EXPECT_EQ(error.param(), field) << more;
    EXPECT_TRUE(std::string_view(error.what()).starts_with(field + ": ")) << error.what();
  }
}

TEST(ChatRequest, RefusesByNameWhatItCannotDo) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"tools", R"([{"type":"function","function":{"name":"f"}}])"},
      {"tools", "{}"},
      {"tool_choice", "\"required\""},
      {"tool_choice", R"({"type":"function","function":{"name":"f"}})"},
      {"functions", R"([{"name":"f"}])"},
      {"function_call", R"({"name":"f"})"},
      {"response_format", R"({"type":"json_object"})"},
      {"response_format", R"({"type":"json_schema","json_schema":{}})"},
      {"response_format", "\"text\""},
      {"modalities", R"(["text","audio"])"},
      {"audio", "{}"},
      {"bad_words", R"(["x"])"},
      {"guided_json", "{}"},
      {"prompt_logprobs", "5"},
      {"skip_special_tokens", "false"},
      {"separate_reasoning", "false"},
      {"chat_template", "\"x\""},
  };
  for (const auto& [field, value] : cases) {
    const ApiError error = error_of(body(fmt::format("\"{}\":{}", field, value)));
    EXPECT_EQ(error.status(), 400);
    EXPECT_EQ(error.param(), field) << value;
    EXPECT_NE(std::string(error.what()).find("not supported"), std::string::npos) << error.what();
  }
  // What asks for nothing is let through.
  EXPECT_NO_THROW(parse_chat_request(
      body(R"("n":1,"best_of":1,"top_logprobs":0,"frequency_penalty":0,"logit_bias":{},"tool_choice":"none",
              "functions":[],"stop_token_ids":[],"modalities":["text"],"min_tokens":0,"echo":false)")));
}

TEST(ChatRequest, ReadsWhatShapesTheAnswers) {
  const ChatRequest request = parse_chat_request(body(
      R"("presence_penalty":1.5,"frequency_penalty":-1,"logit_bias":{"5":-100,"7":1.5,"9":null},"n":2,"best_of":3,
         "logprobs":true,"top_logprobs":4,"min_tokens":2,"ignore_eos":true,"stop_token_ids":[1,2],
         "include_stop_str_in_output":true,"echo":true,"cache_salt":"s","add_generation_prompt":false)"));
  EXPECT_EQ(request.sampling.presence_penalty, 1.5);
  EXPECT_EQ(request.sampling.frequency_penalty, -1);
  ASSERT_EQ(request.sampling.logit_bias.size(), 2U);
  EXPECT_EQ(request.sampling.logit_bias[1].id, 7);
  EXPECT_EQ(request.sampling.logit_bias[1].bias, 1.5F);
  EXPECT_EQ(request.n, 2U);
  EXPECT_EQ(request.best_of, 3U);
  EXPECT_EQ(request.n_top_logprobs, 4U);
  EXPECT_EQ(request.min_tokens, 2U);
  EXPECT_TRUE(request.ignore_eos && request.include_stop && request.echo);
  EXPECT_EQ(request.stop_token_ids, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(request.cache_salt, "s");
  EXPECT_FALSE(request.add_generation_prompt);
  EXPECT_FALSE(parse_chat_request(body(R"("logprobs":false)")).n_top_logprobs);
  EXPECT_EQ(parse_chat_request(body(R"("logprobs":true)")).n_top_logprobs, 0U);
  EXPECT_EQ(parse_chat_request(body(R"("n":3)")).best_of, 3U);
}

TEST(ChatRequest, LetsTheNewestLengthWin) {
  EXPECT_EQ(parse_chat_request(body(R"("max_new_tokens":1)")).max_tokens, 1U);
  EXPECT_EQ(parse_chat_request(body(R"("max_new_tokens":1,"max_tokens":2)")).max_tokens, 2U);
  EXPECT_EQ(
      parse_chat_request(body(R"("max_completion_tokens":3,"max_tokens":2,"max_new_tokens":1)")).max_tokens,
      3U);
  EXPECT_EQ(parse_chat_request(body(R"("max_completion_tokens":null,"max_tokens":2)")).max_tokens_field,
            "max_tokens");
}

TEST(ChatRequest, TakesStopAsStringOrList) {
  EXPECT_EQ(parse_chat_request(body(R"("stop":"x")")).stop, std::vector<std::string>{"x"});
  EXPECT_TRUE(parse_chat_request(body(R"("stop":[])")).stop.empty());
  EXPECT_EQ(error_of(body(R"("stop":)" + Json(std::vector<std::string>(17, "x")).dump())).param(), "stop");
  EXPECT_EQ(error_of(body(R"("stop":")" + std::string(2000, 'x') + "\"")).param(), "stop");
}

TEST(ChatRequest, TurnsTopKOffWithMinusOne) {
  EXPECT_EQ(parse_chat_request(body(R"("top_k":-1)")).sampling.top_k, 0);
  EXPECT_EQ(parse_chat_request(body(R"("top_k":0)")).sampling.top_k, 0);
}

TEST(ChatRequest, TakesSeedsOfAllOfInt64) {
  EXPECT_EQ(parse_chat_request(body(R"("seed":9223372036854775807)")).sampling.seed,
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_chat_request(body(R"("seed":-9223372036854775808)")).sampling.seed,
            std::numeric_limits<int64_t>::min());
}

TEST(ChatRequest, TakesThinkingFlatAndNested) {
  EXPECT_EQ(parse_chat_request(body(R"("enable_thinking":true)")).enable_thinking, true);
  EXPECT_EQ(parse_chat_request(body(R"("chat_template_kwargs":{"enable_thinking":false})")).enable_thinking,
            false);
  EXPECT_EQ(
      parse_chat_request(body(R"("enable_thinking":true,"chat_template_kwargs":{"enable_thinking":true})"))
          .enable_thinking,
      true);
}

TEST(ChatRequest, TakesNoEffortForNoThinking) {
  EXPECT_EQ(parse_chat_request(body(R"("reasoning_effort":"none")")).enable_thinking, false);
  EXPECT_FALSE(parse_chat_request(body(R"("reasoning_effort":"medium")")).enable_thinking);
  EXPECT_EQ(error_of(body(R"("reasoning_effort":"none","enable_thinking":true)")).param(), "enable_thinking");
  EXPECT_EQ(error_of(body(R"("reasoning_effort":1)")).param(), "reasoning_effort");
}

TEST(ChatRequest, ListsUnknownFieldsUpToABound) {
  EXPECT_EQ(parse_chat_request(body(R"("foo":1,"temperature":1,"bar":null)")).unknown_fields,
            (std::vector<std::string>{"foo", "bar"}));
  std::string many = "\"f0\":0";
  for (int i = 1; i < 1000; ++i) many += ",\"f" + std::to_string(i) + "\":0";
  EXPECT_LE(parse_chat_request(body(many)).unknown_fields.size(), 16U);
}

TEST(ChatMessages, AreBroughtIntoOneForm) {
  const ChatRequest request = parse_chat_request(with_messages(R"([
    {"role": "developer", "content": "d"},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "name": "Ann"},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
      {"id": "2", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}}]},
    {"role": "tool", "content": "42", "tool_call_id": "1"},
    {"role": "assistant", "content": "c", "reasoning_content": "r", "refusal": null, "annotations": []},
    {"role": "user", "content": []}])"));
  EXPECT_EQ(request.messages, Json::parse(R"([
    {"role": "system", "content": "d"},
    {"role": "user", "content": "ab", "name": "Ann"},
    {"role": "assistant", "content": "", "tool_calls": [
      {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
      {"id": "2", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}}]},
    {"role": "tool", "content": "42", "tool_call_id": "1"},
    {"role": "assistant", "content": "c", "reasoning_content": "r"},
    {"role": "user", "content": ""}])"));
}

TEST(ChatMessages, NameAPartOfAnotherTypeInOneLine) {
  const auto error = [](const std::string& type) {
    return std::string(
        error_of(with_messages(R"([{"role":"user","content":[{"type":")" + type + R"("}]}])")).what());
  };
  EXPECT_EQ(error("image_url"),
            "messages[0].content[0]: content parts of type \"image_url\" are not supported, only \"text\"");
  EXPECT_EQ(error(R"(a\nb)"),
            R"(messages[0].content[0]: content parts of type "a\nb" are not supported, only "text")");
}

TEST(ChatMessages, NameThePlaceThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"([])", "messages"},
      {R"({})", "messages"},
      {R"("hi")", "messages"},
      {R"(null)", "messages"},
      {R"(["hi"])", "messages[0]"},
      {R"([{"content":"x"}])", "messages[0].role"},
      {R"([{"role":"robot","content":"x"}])", "messages[0].role"},
      {R"([{"role":1,"content":"x"}])", "messages[0].role"},
      {R"([{"role":"user","content":"x"},{"role":"user"}])", "messages[1].content"},
      {R"([{"role":"user","content":null}])", "messages[0].content"},
      {R"([{"role":"assistant","content":null}])", "messages[0].content"},
      {R"([{"role":"assistant","content":null,"tool_calls":[]}])", "messages[0].content"},
      {R"([{"role":"user","content":1}])", "messages[0].content"},
      {R"([{"role":"user","content":{"type":"text"}}])", "messages[0].content"},
      {R"([{"role":"user","content":["x"]}])", "messages[0].content[0]"},
      {R"([{"role":"user","content":[{"text":"x"}]}])", "messages[0].content[0].type"},
      {R"([{"role":"user","content":[{"type":"text"}]}])", "messages[0].content[0].text"},
      {R"([{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{}}]}])",
       "messages[0].content[1]"},
      {R"([{"role":"user","content":"x","name":3}])", "messages[0].name"},
      {R"([{"role":"tool","content":"x","tool_call_id":3}])", "messages[0].tool_call_id"},
      {R"([{"role":"assistant","content":"x","reasoning_content":[]}])", "messages[0].reasoning_content"},
      {R"([{"role":"assistant","tool_calls":{}}])", "messages[0].tool_calls"},
      {R"([{"role":"assistant","tool_calls":[1]}])", "messages[0].tool_calls[0]"},
      {R"([{"role":"assistant","tool_calls":[{}]}])", "messages[0].tool_calls[0].function"},
      {R"([{"role":"assistant","tool_calls":[{"function":{}}]}])", "messages[0].tool_calls[0].function.name"},
      {R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}])",
       "messages[0].tool_calls[0].function.arguments"},
      {R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":1}}]}])",
       "messages[0].tool_calls[0].function.arguments"},
  };
  for (const auto& [messages, field] : cases) {
    const ApiError error = error_of(with_messages(messages));
    EXPECT_EQ(error.status(), 400) << messages;
    EXPECT_EQ(error.param(), field) << messages;
  }
  EXPECT_EQ(error_of("{}").param(), "messages");
  const std::string image =
      error_of(with_messages(R"([{"role":"user","content":[{"type":"image_url"}]}])")).what();
  EXPECT_NE(image.find("image_url"), std::string::npos) << image;
}

}  // namespace
}  // namespace qwick::api
