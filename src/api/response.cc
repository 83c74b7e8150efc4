#include "api/response.h"

#include <cmath>
#include <utility>

namespace qwick::api {
namespace {

// A token alone may be part of a character; its bytes say all.
std::string token_text(const Tokenizer& tokenizer, int32_t id) {
  return tokenizer.decode({&id, 1});
}

// The first token of a prompt has none: null.
Json logprob_value(float logprob) {
  return std::isnan(logprob) ? Json(nullptr) : Json(logprob);
}

size_t n_characters(std::string_view text) {
  size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return n;
}

class Writer : public ResponseWriter {
 public:
  Writer(const Tokenizer& tokenizer, AnswerHeader header, WriterOptions options,
         std::string_view whole_object, std::string_view chunk_object)
      : tokenizer_(tokenizer),
        header_(std::move(header)),
        options_(options),
        whole_object_(whole_object),
        chunk_object_(chunk_object) {}

  std::string usage(const Usage& usage) override {
    Json json = frame(chunk_object_, Json::array());
    json["usage"] = usage_object(usage);
    return json.dump();
  }

 protected:
  const Tokenizer& tokenizer() const { return tokenizer_; }
  bool has_logprobs() const { return options_.has_logprobs; }

  std::string chunk(Json choice) const {
    Json json = frame(chunk_object_, Json::array({std::move(choice)}));
    if (options_.include_usage) json["usage"] = nullptr;
    return json.dump();
  }
  std::string answer(Json choices, const Usage& usage) const {
    Json json = frame(whole_object_, std::move(choices));
    json["usage"] = usage_object(usage);
    return json.dump();
  }

 private:
  Json frame(std::string_view object, Json choices) const {
    return {{"id", header_.id},
            {"object", object},
            {"created", header_.created},
            {"model", header_.model},
            {"choices", std::move(choices)}};
  }

  const Tokenizer& tokenizer_;
  AnswerHeader header_;
  WriterOptions options_;
  std::string_view whole_object_, chunk_object_;
};

class ChatWriter final : public Writer {
 public:
  ChatWriter(const Tokenizer& tokenizer, AnswerHeader header, WriterOptions options)
      : Writer(tokenizer, std::move(header), options, "chat.completion", "chat.completion.chunk") {}

  std::string whole(std::span<const FinishedChoice> choices, const Usage& usage) override {
    Json list = Json::array();
    for (const FinishedChoice& choice : choices) {
      // Content is a string even when empty: clients add it up.
      Json message = {{"role", "assistant"}, {"content", choice.text.content}, {"refusal", nullptr}};
      if (!choice.text.reasoning.empty()) message["reasoning_content"] = choice.text.reasoning;
      list.push_back({{"index", list.size()},
                      {"message", std::move(message)},
                      {"logprobs", logprobs(choice.text)},
                      {"finish_reason", choice.finish_reason}});
    }
    return answer(std::move(list), usage);
  }

  std::string start(uint32_t choice) override {
    return delta_chunk(choice, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
  }
  std::string delta(uint32_t choice, const AnswerPiece& piece) override {
    Json delta = Json::object();
    if (!piece.reasoning.empty()) delta["reasoning_content"] = piece.reasoning;
    if (!piece.content.empty()) delta["content"] = piece.content;
    return delta_chunk(choice, std::move(delta), logprobs(piece), nullptr);
  }
  std::string finish(uint32_t choice, std::string_view finish_reason) override {
    return delta_chunk(choice, Json::object(), nullptr, finish_reason);
  }

 private:
  std::string delta_chunk(uint32_t choice, Json delta, Json logprobs, Json finish_reason) const {
    return chunk({{"index", choice},
                  {"delta", std::move(delta)},
                  {"logprobs", std::move(logprobs)},
                  {"finish_reason", std::move(finish_reason)}});
  }

  Json entry(const IdLogprob& of) const {
    const std::string_view bytes = tokenizer().token_bytes(of.id);
    return {{"token", token_text(tokenizer(), of.id)},
            {"logprob", logprob_value(of.logprob)},
            {"bytes", std::vector<uint8_t>(bytes.begin(), bytes.end())}};
  }

  Json logprobs(const AnswerPiece& piece) const {
    if (!has_logprobs()) return nullptr;
    Json content = Json::array();
    for (const TokenLogprobs& token : piece.logprobs) {
      Json json = entry(token.token);
      json["top_logprobs"] = Json::array();
      for (const IdLogprob& other : token.top) json["top_logprobs"].push_back(entry(other));
      content.push_back(std::move(json));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
  }
};

class CompletionWriter final : public Writer {
 public:
  CompletionWriter(const Tokenizer& tokenizer, AnswerHeader header, WriterOptions options)
      : Writer(tokenizer, std::move(header), options, "text_completion", "text_completion") {}

  std::string whole(std::span<const FinishedChoice> choices, const Usage& usage) override {
    Json list = Json::array();
    for (const FinishedChoice& choice : choices)
      list.push_back(json(static_cast<uint32_t>(list.size()), choice.text, choice.finish_reason));
    return answer(std::move(list), usage);
  }

  std::string start(uint32_t /*choice*/) override { return {}; }
  std::string delta(uint32_t choice, const AnswerPiece& piece) override {
    return chunk(json(choice, piece, nullptr));
  }
  std::string finish(uint32_t choice, std::string_view finish_reason) override {
    return chunk(json(choice, {}, finish_reason));
  }

 private:
  Json json(uint32_t choice, const AnswerPiece& piece, Json finish_reason) {
    // Nothing splits reasoning off here.
    return {{"index", choice},
            {"text", piece.content},
            {"logprobs", logprobs(choice, piece)},
            {"finish_reason", std::move(finish_reason)}};
  }

  Json logprobs(uint32_t choice, const AnswerPiece& piece) {
    if (!has_logprobs()) return nullptr;
    if (choice >= offsets_.size()) offsets_.resize(choice + 1);
    Json tokens = Json::array(), values = Json::array(), tops = Json::array(), offsets = Json::array();
    for (const TokenLogprobs& token : piece.logprobs) {
      const std::string text = token_text(tokenizer(), token.token.id);
      offsets.push_back(offsets_[choice]);
      offsets_[choice] += n_characters(text);
      tokens.push_back(text);
      values.push_back(logprob_value(token.token.logprob));
      Json top = Json::object();
      for (const IdLogprob& other : token.top)
        top[token_text(tokenizer(), other.id)] = logprob_value(other.logprob);
      tops.push_back(std::isnan(token.token.logprob) ? Json(nullptr) : std::move(top));
    }
    return {{"tokens", std::move(tokens)},
            {"token_logprobs", std::move(values)},
            {"top_logprobs", std::move(tops)},
            {"text_offset", std::move(offsets)}};
  }

  std::vector<size_t> offsets_;  // by choice: characters of all tokens so far
};

Json model_json(const std::string& name, int64_t created, uint32_t max_model_len) {
  return {{"id", name},
          {"object", "model"},
          {"created", created},
          {"owned_by", "qwick"},
          {"max_model_len", max_model_len}};
}

}  // namespace

Json usage_object(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", uint64_t{usage.prompt_tokens} + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

std::unique_ptr<ResponseWriter> make_chat_writer(const Tokenizer& tokenizer, AnswerHeader header,
                                                 WriterOptions options) {
  return std::make_unique<ChatWriter>(tokenizer, std::move(header), options);
}

std::unique_ptr<ResponseWriter> make_completion_writer(const Tokenizer& tokenizer, AnswerHeader header,
                                                       WriterOptions options) {
  return std::make_unique<CompletionWriter>(tokenizer, std::move(header), options);
}

std::string model_list(const std::vector<std::string>& names, int64_t created, uint32_t max_model_len) {
  Json models = Json::array();
  for (const std::string& name : names) models.push_back(model_json(name, created, max_model_len));
  return Json{{"object", "list"}, {"data", std::move(models)}}.dump();
}

std::string model_object(const std::string& name, int64_t created, uint32_t max_model_len) {
  return model_json(name, created, max_model_len).dump();
}

}  // namespace qwick::api
