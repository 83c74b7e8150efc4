// Speed of chat templates: compiling one, and rendering a conversation of 20 turns.
#include <benchmark/benchmark.h>

#include <string>

#include "text/chat_template.h"

namespace qwick {
namespace {

ChatTemplate::Input conversation(int turns, bool with_tools) {
  ChatTemplate::Input input;
  input.messages.push_back({{"role", "system"}, {"content", "You are a helpful assistant. Answer briefly."}});
  for (int i = 0; i < turns; ++i) {
    const std::string number = std::to_string(i);
    input.messages.push_back(
        {{"role", "user"}, {"content", "Question " + number + ": what is the weather like in Paris?"}});
    input.messages.push_back({{"role", "assistant"},
                              {"content", "<think>\nThe user asks about the weather.\n</think>\n\nAnswer " +
                                              number + ": it is sunny, 23 degrees."}});
  }
  input.messages.push_back({{"role", "user"}, {"content", "Thank you!"}});
  if (with_tools) {
    const Json parameters = {{"type", "object"}, {"properties", {{"city", {{"type", "string"}}}}}};
    const Json function = {
        {"name", "get_weather"}, {"description", "Tells the weather."}, {"parameters", parameters}};
    input.tools = Json::array({{{"type", "function"}, {"function", function}}});
  }
  return input;
}

void bm_render_20_turns(benchmark::State& state) {
  const ChatTemplate chat = ChatTemplate::builtin(state.range(0) != 0 ? "qwen3" : "chatml");
  const ChatTemplate::Input input = conversation(20, state.range(0) != 0);
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = chat.render(input);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(bm_render_20_turns)->Arg(0)->Arg(1)->ArgName("qwen3")->Unit(benchmark::kMicrosecond);

void bm_compile(benchmark::State& state) {
  const std::string source = ChatTemplate::builtin("qwen3").source();
  for (auto _ : state) benchmark::DoNotOptimize(ChatTemplate::compile(source, "qwen3"));
}
BENCHMARK(bm_compile)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace qwick
