// Chat templates: what a template sees, as transformers passes it. The template language is in jinja/.
#include "text/chat_template.h"

#include <utility>

#include "base/error.h"
#include "text/chat_template_builtin.h"
#include "text/jinja/json_value.h"
#include "text/jinja/template.h"

namespace qwick {
namespace {

using jinja::Value;

// The names under which clients and templates know a message's reasoning; the first that is set counts.
constexpr const char* kReasoningNames[] = {"reasoning_content", "thinking", "reasoning"};

// A message as transformers hands it to templates: without null members, and with its reasoning under
// the names that templates read.
Json normalized_message(const Json& message) {
  if (!message.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, "messages: each message must be an object", "messages");
  }
  Json out = Json::object();
  Json reasoning;
  for (const char* name : kReasoningNames) {
    const auto it = message.find(name);
    if (reasoning.is_null() && it != message.end()) reasoning = *it;
  }
  if (!reasoning.is_null() && !message.contains("thinking")) out["thinking"] = reasoning;
  for (const auto& [key, value] : message.items()) {
    if (!value.is_null()) out[key] = value;
  }
  if (!reasoning.is_null()) out["reasoning_content"] = reasoning;
  return out;
}

void set_variable(jinja::Variables& variables, std::string_view name, Value value) {
  for (auto& [key, old] : variables) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  variables.emplace_back(name, std::move(value));
}

jinja::Variables make_variables(const ChatTemplate::Input& input, const std::string& bos,
                                const std::string& eos) {
  if (!input.messages.is_array()) {
    throw Error(ErrorCode::kInvalidArgument, "messages: must be an array", "messages");
  }
  jinja::Values messages;
  messages.reserve(input.messages.size());
  for (const Json& message : input.messages)
    messages.push_back(jinja::value_from_json(normalized_message(message)));
  jinja::Variables variables;
  set_variable(variables, "messages", Value::list(std::move(messages)));
  set_variable(variables, "tools", jinja::value_from_json(input.tools));
  set_variable(variables, "documents", Value::none());
  set_variable(variables, "add_generation_prompt", Value::boolean(input.add_generation_prompt));
  if (!bos.empty()) set_variable(variables, "bos_token", Value::string(bos));
  if (!eos.empty()) set_variable(variables, "eos_token", Value::string(eos));
  for (const auto& [name, value] : input.variables.items())
    set_variable(variables, name, jinja::value_from_json(value));
  return variables;
}

}  // namespace

struct ChatTemplate::Impl {
  Impl(std::string text, std::string name, std::string bos_token, std::string eos_token)
      : source(std::move(text)),
        bos(std::move(bos_token)),
        eos(std::move(eos_token)),
        program(source, std::move(name)) {}

  std::string source;
  std::string bos;
  std::string eos;
  jinja::Template program;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

ChatTemplate ChatTemplate::compile(std::string source, std::string name, std::string bos_token,
                                   std::string eos_token) {
  return ChatTemplate(
      std::make_unique<Impl>(std::move(source), std::move(name), std::move(bos_token), std::move(eos_token)));
}

ChatTemplate ChatTemplate::builtin(std::string_view name, std::string bos_token, std::string eos_token) {
  for (const BuiltinTemplate& entry : builtin_templates()) {
    if (entry.name == name) {
      return compile(std::string(entry.source), std::string(name), std::move(bos_token),
                     std::move(eos_token));
    }
  }
  fail(ErrorCode::kInvalidArgument, "no built-in chat template '{}': there are chatml and qwen3", name);
}

std::string ChatTemplate::render(const Input& input) const {
  jinja::Variables variables;
  try {
    variables = make_variables(input, impl_->bos, impl_->eos);
  } catch (const jinja::TemplateError& error) {
    fail(ErrorCode::kInvalidArgument, "{}: {}", impl_->program.name(), error.what());
  }
  return impl_->program.render(variables);
}

const std::string& ChatTemplate::name() const {
  return impl_->program.name();
}
const std::string& ChatTemplate::source() const {
  return impl_->source;
}
bool ChatTemplate::mentions(std::string_view variable) const {
  return impl_->program.reads(variable);
}

}  // namespace qwick
