#include "api/chat_messages.h"

#include "api/errors.h"

namespace qwick::api {
namespace {

std::string parse_role(const Fields& message) {
  const auto role = message.string("role");
  if (!role) invalid_field(message.path("role"), "is missing");
  if (*role == "developer") return "system";
  if (*role == "system" || *role == "user" || *role == "assistant" || *role == "tool") return *role;
  // Not quoted: it may be long, and it is the client's text.
  invalid_field(message.path("role"), "unknown role; there are system, developer, user, assistant and tool");
}

std::string parse_part(const Json& part, const std::string& path) {
  const Fields fields(part, path);
  const auto type = fields.string("type");
  if (!type) invalid_field(fields.path("type"), "is missing");
  if (*type != "text") {
    invalid_field(path, "content parts of type {} are not supported, only \"text\"",
                  Json(type->substr(0, 40)).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  const auto text = fields.string("text");
  if (!text) invalid_field(fields.path("text"), "is missing");
  return *text;
}

// Content is a string or a list of parts. Only an assistant that calls tools may have none.
std::string parse_content(const Fields& message, bool may_be_absent) {
  const Json* content = message.find("content");
  const std::string path = message.path("content");
  if (content == nullptr) {
    if (!may_be_absent) invalid_field(path, "is missing");
    return {};
  }
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) {
    invalid_field(path, "must be a string or a list of parts, not {}", json_kind(*content));
  }
  std::string text;
  size_t n_parts = 0;
  for (const Json& part : *content) text += parse_part(part, fmt::format("{}[{}]", path, n_parts++));
  return text;
}

// [{"id":…,"type":"function","function":{"name":…,"arguments":"{…}" or {…}}}, …]
Json parse_tool_calls(const Fields& message) {
  const Json* calls = message.find("tool_calls");
  if (calls == nullptr) return nullptr;
  const std::string path = message.path("tool_calls");
  if (!calls->is_array()) invalid_field(path, "must be a list, not {}", json_kind(*calls));
  size_t n_calls = 0;
  for (const Json& call : *calls) {
    const Fields fields(call, fmt::format("{}[{}]", path, n_calls++));
    const Json* function = fields.find("function");
    if (function == nullptr) invalid_field(fields.path("function"), "is missing");
    const Fields function_fields(*function, fields.path("function"));
    if (!function_fields.string("name")) invalid_field(function_fields.path("name"), "is missing");
    const Json* arguments = function_fields.find("arguments");
    if (arguments == nullptr) invalid_field(function_fields.path("arguments"), "is missing");
    if (!arguments->is_string() && !arguments->is_object()) {
      invalid_field(function_fields.path("arguments"), "must be a string or an object, not {}",
                    json_kind(*arguments));
    }
  }
  return calls->empty() ? Json(nullptr) : *calls;
}

Json parse_message(const Json& json, const std::string& path) {
  const Fields fields(json, path);
  const std::string role = parse_role(fields);
  const bool is_assistant = role == "assistant";
  const Json tool_calls = is_assistant ? parse_tool_calls(fields) : Json(nullptr);
  Json message = Json::object();
  message["role"] = role;
  message["content"] = parse_content(fields, !tool_calls.is_null());
  if (is_assistant) {
    if (const auto reasoning = fields.string("reasoning_content")) message["reasoning_content"] = *reasoning;
    if (!tool_calls.is_null()) message["tool_calls"] = tool_calls;
  }
  for (const std::string_view name : {"name", "tool_call_id"}) {
    if (const auto value = fields.string(name)) message[std::string(name)] = *value;
  }
  return message;
}

}  // namespace

Json parse_messages(const Fields& request) {
  const Json* messages = request.find("messages");
  if (messages == nullptr) invalid_field("messages", "is missing");
  if (!messages->is_array()) invalid_field("messages", "must be a list, not {}", json_kind(*messages));
  if (messages->empty()) invalid_field("messages", "must have at least one message");
  Json parsed = Json::array();
  for (const Json& message : *messages) {
    parsed.push_back(parse_message(message, fmt::format("messages[{}]", parsed.size())));
  }
  return parsed;
}

}  // namespace qwick::api
