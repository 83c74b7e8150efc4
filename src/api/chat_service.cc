#include "api/chat_service.h"

#include <algorithm>
#include <utility>

#include "api/errors.h"

namespace qwick::api {
namespace {

// Has the prompt opened a think block that the answer is to continue?
bool opens_thinking(std::string_view prompt) {
  const size_t end = prompt.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && prompt.substr(0, end + 1).ends_with("<think>");
}

constexpr std::string_view kSpaces = " \t\r\n";

// Cuts a prompt behind the last message, whose end templates may trim, as transformers does.
void cut_after_final_message(std::string& prompt, std::string_view content) {
  const size_t first = std::min(content.find_first_not_of(kSpaces), content.size());
  std::string_view trimmed = content.substr(first);
  trimmed = trimmed.substr(0, trimmed.find_last_not_of(kSpaces) + 1);
  const size_t at = prompt.rfind(trimmed);
  if (trimmed.empty()) invalid_field("continue_final_message", "the last message is empty; leave it out");
  if (at == std::string::npos)
    invalid_field("continue_final_message", "the chat template does not show the last message as it is");
  const bool is_whole = std::string_view(prompt).substr(at).starts_with(content.substr(first));
  prompt.resize(at + (is_whole ? content.size() - first : trimmed.size()));
}

}  // namespace

ChatService::ChatService(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         GenerationDefaults defaults, uint32_t context_length)
    : tokenizer_(&tokenizer),
      template_(&chat_template),
      resolver_(tokenizer, std::move(defaults), context_length),
      guard_(tokenizer) {}

ChatService::Prompt ChatService::render(const ChatRequest& request) const {
  ChatTemplate::Input input;
  input.messages = request.messages;
  input.variables = request.template_variables;
  input.add_generation_prompt = request.add_generation_prompt;
  if (request.enable_thinking) input.variables["enable_thinking"] = *request.enable_thinking;
  Prompt prompt;
  const bool messages_marked = guard_.mark(input.messages);
  prompt.is_marked = guard_.mark(input.variables) || messages_marked;
  try {
    prompt.text = template_->render(input);
  } catch (const Error& error) {
    throw from_error(error, "messages");
  }
  if (request.continue_final_message) {
    cut_after_final_message(prompt.text, input.messages.back()["content"].get_ref<const std::string&>());
  }
  return prompt;
}

std::string ChatService::prompt_text(const ChatRequest& request) const {
  const Prompt prompt = render(request);
  if (!prompt.is_marked) return prompt.text;
  std::string text;
  for (const SpecialTextGuard::Piece& piece : guard_.split(prompt.text)) text += piece.text;
  return text;
}

std::vector<int32_t> ChatService::encode(const Prompt& prompt) const {
  if (!prompt.is_marked) return tokenizer_->encode(prompt.text, SpecialText::kParse);
  std::vector<int32_t> ids;
  for (const SpecialTextGuard::Piece& piece : guard_.split(prompt.text)) {
    const std::vector<int32_t> more = tokenizer_->encode(piece.text, piece.special);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

std::vector<int32_t> ChatService::prompt_ids(const ChatRequest& request) const {
  return encode(render(request));
}

PreparedChat ChatService::prepare(const ChatRequest& request, uint64_t random_seed) const {
  const Prompt prompt = render(request);
  std::vector<int32_t> ids = encode(prompt);
  if (ids.empty()) invalid_field("messages", "the chat template makes an empty prompt of them");
  PreparedChat prepared;
  prepared.generation = resolver_.resolve(request, std::move(ids), "messages", random_seed);
  prepared.thinking = opens_thinking(prompt.text)              ? Thinking::kOpened
                      : request.continue_final_message         ? Thinking::kOff
                      : request.enable_thinking.value_or(true) ? Thinking::kByTag
                                                               : Thinking::kOff;
  if (request.echo && request.continue_final_message)
    prepared.echo = request.messages.back()["content"].get<std::string>();
  return prepared;
}

}  // namespace qwick::api
