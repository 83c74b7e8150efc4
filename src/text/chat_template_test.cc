// Tests of chat templates: what they see, the built-in ones, where a model's is found.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "text/chat_template_source.h"

namespace qwick {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(ChatTemplate, SeesWhatTransformersPasses) {
  const auto chat = ChatTemplate::compile(
      "{{ tools is none }} {{ documents is none }} {{ add_generation_prompt }} {{ bos_token }} {{ eos_token "
      "is defined }} "
      "{{ extra }} {{ messages | tojson }}",
      "t", "<s>");
  ChatTemplate::Input input;
  input.messages =
      Json::parse(R"([{"role": "assistant", "content": null, "reasoning": "why", "tool_calls": null}])");
  input.variables["extra"] = 5;
  EXPECT_EQ(
      chat.render(input),
      R"(True True True <s> False 5 [{"thinking": "why", "role": "assistant", "reasoning": "why", "reasoning_content": "why"}])");
  EXPECT_TRUE(chat.mentions("extra"));
  EXPECT_FALSE(chat.mentions("enable_thinking"));
}

TEST(ChatTemplate, BadInputIsAnError) {
  const auto chat = ChatTemplate::builtin("chatml");
  ChatTemplate::Input input;
  input.messages = "text";
  EXPECT_THROW(chat.render(input), Error);
  input.messages = Json::array({1});
  EXPECT_THROW(chat.render(input), Error);
  input.messages = Json::array({{{"role", "user"}, {"content", "\xff"}}});
  EXPECT_THROW(chat.render(input), Error);
  EXPECT_THROW(ChatTemplate::builtin("nosuch"), Error);
}

TEST(ChatTemplate, BuiltinQwen3) {
  const auto chat = ChatTemplate::builtin("qwen3");
  ChatTemplate::Input input;
  input.messages = Json::parse(R"([
      {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
      {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]},
      {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}])");
  input.variables["enable_thinking"] = false;
  EXPECT_EQ(chat.render(input),
            "<|im_start|>user\nab<|im_end|>\n"
            "<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": "
            "1}}\n</tool_call><|im_end|>\n"
            "<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</"
            "tool_response><|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

std::string render(const std::optional<ChatTemplate>& chat, const ChatTemplate::Input& input = {}) {
  return chat.has_value() ? chat->render(input) : "no template";
}

TEST(ChatTemplateSource, HuggingFace) {
  const std::string config = R"({"bos_token": {"content": "<b>"}, "eos_token": null,
      "chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "{{ bos_token }}d"}]})";
  const std::string file = "file{{ bos_token }}";
  const auto set = FileSet::embedded("model", {{"tokenizer_config.json", bytes_of(config)}});
  EXPECT_EQ(render(load_chat_template_hf(set)), "<b>d");
  const auto both = FileSet::embedded(
      "model", {{"tokenizer_config.json", bytes_of(config)}, {"chat_template.jinja", bytes_of(file)}});
  EXPECT_EQ(render(load_chat_template_hf(both)), "file<b>");
  EXPECT_FALSE(load_chat_template_hf(FileSet::embedded("model", {})).has_value());
  const std::string broken = R"({"chat_template": 5})";
  EXPECT_THROW(load_chat_template_hf(FileSet::embedded("m", {{"tokenizer_config.json", bytes_of(broken)}})),
               Error);
}

// A file of the real models that tests use (make test-models), or nothing.
std::filesystem::path test_model(const char* name) {
  const char* folder = std::getenv("QWICK_TEST_MODELS");
  const char* home = std::getenv("HOME");
  if (folder != nullptr) return std::filesystem::path(folder) / name;
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/qwick/test-models" / name;
}

TEST(ChatTemplateSource, Gguf) {
  const auto path = test_model("smollm2-135m-instruct-q4_1.gguf");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << ": get it by `make test-models`";
  const auto chat = load_chat_template_gguf(GgufFile::open(MappedFile::open(path)));
  ChatTemplate::Input input;
  input.messages = Json::array({{{"role", "user"}, {"content", "Hi"}}});
  EXPECT_EQ(
      render(chat, input),
      "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace
}  // namespace qwick
