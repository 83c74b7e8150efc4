// Runs templates for tests/differential/test_jinja.py. JSON lines in, one answer line each:
//   {"define": ID, "template": TEXT}                     compiles: {"ok": true} or {"error": ...}
//   {"template": TEXT or "use": ID, "variables": {...}}  {"text": ...} or {"error": ...}
//   {"builtin": NAME or "chat": ID, "input": {...}}      the same, through ChatTemplate
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "text/chat_template.h"
#include "text/jinja/json_value.h"
#include "text/jinja/template.h"

namespace {

using qwick::ChatTemplate;
using qwick::Json;
using qwick::jinja::Template;

class Probe {
 public:
  Json answer(const Json& request) {
    if (request.contains("define")) {
      const auto id = request["define"].get<std::string>();
      const auto text = request["template"].get<std::string>();
      templates_[id] = std::make_unique<Template>(text, id);
      chats_[id] = std::make_unique<ChatTemplate>(ChatTemplate::compile(text, id));
      return {{"ok", true}};
    }
    if (request.contains("builtin")) {
      return {
          {"text", render(ChatTemplate::builtin(request["builtin"].get<std::string>()), request["input"])}};
    }
    if (request.contains("chat")) {
      return {{"text", render(*chats_.at(request["chat"].get<std::string>()), request["input"])}};
    }
    qwick::jinja::Variables variables;
    for (const auto& [name, value] : request["variables"].items()) {
      variables.emplace_back(name, qwick::jinja::value_from_json(value));
    }
    if (request.contains("use"))
      return {{"text", templates_.at(request["use"].get<std::string>())->render(variables)}};
    return {{"text", Template(request["template"].get<std::string>(), "t").render(variables)}};
  }

 private:
  static std::string render(const ChatTemplate& chat, const Json& request) {
    ChatTemplate::Input input;
    input.messages = request.at("messages");
    if (request.contains("tools")) input.tools = request["tools"];
    input.add_generation_prompt = request.value("add_generation_prompt", true);
    if (request.contains("variables")) input.variables = request["variables"];
    return chat.render(input);
  }

  std::map<std::string, std::unique_ptr<Template>> templates_;
  std::map<std::string, std::unique_ptr<ChatTemplate>> chats_;
};

}  // namespace

int main() {
  Probe probe;
  std::string line;
  while (std::getline(std::cin, line)) {
    Json out;
    try {
      out = probe.answer(qwick::parse_json(line, "request", 200));
    } catch (const qwick::Error& error) {
      out = {{"error", error.what()}, {"compile", error.code() == qwick::ErrorCode::kUnsupported}};
    } catch (const qwick::jinja::TemplateError& error) {
      out = {{"error", error.what()}};  // from the variables
    }
    std::cout << out.dump() << '\n' << std::flush;
  }
}
