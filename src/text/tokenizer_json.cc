// Reads tokenizer.json and tokenizer_config.json as Hugging Face writes them. The two large parts,
// model.vocab and model.merges, go through JsonCursor; the rest is small.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "text/json_cursor.h"
#include "text/tokenizer_files.h"

namespace qwick {
namespace {

constexpr std::string_view kFile = "tokenizer.json";
constexpr std::string_view kConfigFile = "tokenizer_config.json";

// A part of one of the files, with its name for messages.
struct Part {
  const Json& value;
  std::string where;  // "DIR/tokenizer.json: normalizer"

  Part operator[](const char* key) const {
    static const Json null;
    const auto found = value.is_object() ? value.find(key) : value.end();
    return {value.is_object() && found != value.end() ? *found : null, where + "." + key};
  }
  bool is_null() const { return value.is_null(); }
  bool boolean(bool otherwise) const {
    if (value.is_null()) return otherwise;
    if (!value.is_boolean()) invalid_file("{}: not true or false", where);
    return value.get<bool>();
  }
  const std::string& string() const {
    if (!value.is_string()) invalid_file("{}: not a string", where);
    return value.get_ref<const std::string&>();
  }
  int32_t id() const {
    if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > kMaxTokenId) {
      invalid_file("{}: not a token id (0 to {})", where, kMaxTokenId);
    }
    return value.get<int32_t>();
  }
  // The parts of a "Sequence" under `key`, or the part itself.
  std::vector<Part> sequence(const char* key) const {
    if ((*this)["type"].value != "Sequence") return {*this};
    const Part list = (*this)[key];
    if (!list.value.is_array()) invalid_file("{}: not an array", list.where);
    std::vector<Part> parts;
    for (size_t i = 0; i < list.value.size(); ++i) {
      for (Part& part : Part{list.value[i], fmt::format("{}[{}]", list.where, i)}.sequence(key)) {
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }
  [[noreturn]] void unsupported(std::string_view supported) const {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 200) text.replace(197, std::string::npos, "...");
    fail(ErrorCode::kUnsupported, "{}: {} is not supported; {} is", where, text, supported);
  }
};

bool read_normalizer(const Part& part) {
  bool nfc = false;
  if (part.is_null()) return false;
  for (const Part& step : part.sequence("normalizers")) {
    if (step["type"].value != "NFC") step.unsupported("NFC or none");
    nfc = true;
  }
  return nfc;
}

bool is_byte_level(const Part& part, bool use_regex) {
  return part["type"].value == "ByteLevel" && !part["add_prefix_space"].boolean(true) &&
         part["use_regex"].boolean(true) == use_regex;
}

PreTokenizer read_pre_tokenizer(const Part& part) {
  const std::vector<Part> steps = part.sequence("pretokenizers");
  if (steps.size() == 1 && is_byte_level(steps[0], true)) return PreTokenizer::kGpt2;
  if (steps.size() == 2 && steps[0]["type"].value == "Digits" &&
      steps[0]["individual_digits"].boolean(false) && is_byte_level(steps[1], true)) {
    return PreTokenizer::kSmolLm;
  }
  if (steps.size() == 2 && steps[0]["type"].value == "Split" && steps[0]["behavior"].value == "Isolated" &&
      !steps[0]["invert"].boolean(false) && is_byte_level(steps[1], false)) {
    const Part pattern = steps[0]["pattern"]["Regex"];
    if (!pattern.is_null()) {
      if (const auto kind = pre_tokenizer_of_regex(pattern.string())) return *kind;
    }
  }
  part.unsupported("that of GPT-2, Qwen2 and Qwen3, Llama 3 or SmolLM");
}

void check_decoder(const Part& part) {
  const std::vector<Part> steps = part.sequence("decoders");
  if (steps.size() != 1 || steps[0]["type"].value != "ByteLevel") part.unsupported("ByteLevel");
}

AddedToken read_added_token(const Part& part, int32_t id) {
  if (!part.value.is_object()) invalid_file("{}: not an object", part.where);
  AddedToken token;
  token.content = part["content"].string();
  token.id = id;
  token.special = part["special"].boolean(false);
  token.normalized = part["normalized"].boolean(!token.special);
  token.lstrip = part["lstrip"].boolean(false);
  token.rstrip = part["rstrip"].boolean(false);
  token.single_word = part["single_word"].boolean(false);
  return token;
}

void add_unique(TokenizerFiles& out, AddedToken token, std::string_view where) {
  const auto same = [&](const AddedToken& other) {
    return other.id == token.id || other.content == token.content;
  };
  if (const auto found = std::find_if(out.added.begin(), out.added.end(), same); found != out.added.end()) {
    if (found->id == token.id && found->content == token.content) return;
    invalid_file("{}: id {} and {} contradict the added token {} of id {}", where, token.id,
                 shown(token.content), shown(found->content), found->id);
  }
  add_added_token(out, std::move(token), where);
}

class JsonReader {
 public:
  JsonReader(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  TokenizerFiles read() {
    JsonCursor cursor(text_, source_);
    Json rest = Json::object();
    cursor.expect('{');
    std::string key;
    for (bool first = true; cursor.more('}', first); first = false) {
      key = cursor.string(scratch_);
      cursor.expect(':');
      if (key == "model") {
        find_model_parts(cursor);
      } else {
        rest[key] = parse_json(cursor.skip(), where(key));
      }
    }
    cursor.expect_end();
    read_model();
    const Part root{rest, source_ + ":"};
    out_.nfc = read_normalizer(part(rest, "normalizer"));
    out_.pre_tokenizer = read_pre_tokenizer(part(rest, "pre_tokenizer"));
    check_decoder(part(rest, "decoder"));
    read_added_tokens(part(rest, "added_tokens"));
    return std::move(out_);
  }

 private:
  std::string where(std::string_view key) const { return fmt::format("{}: {}", source_, one_line(key)); }
  Part part(const Json& object, const char* key) const { return {Part{object, ""}[key].value, where(key)}; }

  // The model's small values; where vocab and merges are.
  void find_model_parts(JsonCursor& cursor) {
    if (model_.is_object()) invalid_file("{}: model is there twice", source_);
    model_ = Json::object();
    cursor.expect('{');
    std::string key;
    for (bool first = true; cursor.more('}', first); first = false) {
      key = cursor.string(scratch_);
      cursor.expect(':');
      const std::string_view value = cursor.skip();
      if (key == "vocab") {
        vocab_ = value;
      } else if (key == "merges") {
        merges_ = value;
      } else {
        model_[key] = parse_json(value, where("model." + key));
      }
    }
  }

  void read_model() {
    const Part model = {model_, where("model")};
    if (!model_.is_object()) invalid_file("{}: no model", source_);
    if (!model["type"].is_null() && model["type"].value != "BPE") model["type"].unsupported("BPE");
    if (!model["dropout"].is_null() && model["dropout"].value != 0.0) model["dropout"].unsupported("none");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model[key].is_null() && model[key].value != "") model[key].unsupported("none");
    }
    for (const char* key : {"byte_fallback"}) {
      if (model[key].boolean(false)) model[key].unsupported("false");
    }
    out_.ignore_merges = model["ignore_merges"].boolean(false);
    if (vocab_.data() == nullptr) invalid_file("{}: model has no vocab", source_);
    if (merges_.data() == nullptr) invalid_file("{}: model has no merges", source_);
    read_vocab();
    read_merges();
    if (!model["unk_token"].is_null()) check_bytes(model["unk_token"]);
  }

  // An unknown token would stand for bytes that are not in the vocabulary: there are none.
  void check_bytes(const Part& unk_token) const {
    for (int byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      if (!out_.vocabulary.find({&c, 1})) {
        fail(ErrorCode::kUnsupported, "{}: an unknown token with a vocabulary that lacks bytes (0x{:02X})",
             unk_token.where, byte);
      }
    }
  }

  JsonCursor cursor_over(std::string_view value) const {
    return {value, source_, static_cast<size_t>(value.data() - text_.data())};
  }

  void read_vocab() {
    const std::string name = where("model.vocab");
    JsonCursor cursor = cursor_over(vocab_);
    out_.vocabulary.reserve(vocab_.size() / 20, vocab_.size() / 2);
    cursor.expect('{');
    for (bool first = true; cursor.more('}', first); first = false) {
      const std::string_view token = cursor.string(scratch_);
      cursor.expect(':');
      add_model_token(out_.vocabulary, cursor.whole_number(), token, name);
    }
    cursor.expect_end();
  }

  void read_merges() {
    const std::string name = where("model.merges");
    JsonCursor cursor = cursor_over(merges_);
    std::string second_scratch;
    out_.merges.reserve(merges_.size() / 16);
    cursor.expect('[');
    for (bool first = true; cursor.more(']', first); first = false) {
      std::string_view left;
      std::string_view right;
      if (cursor.peek() == '[') {
        cursor.expect('[');
        left = cursor.string(scratch_);
        cursor.expect(',');
        right = cursor.string(second_scratch);
        cursor.expect(']');
      } else {
        const std::string_view line = cursor.string(scratch_);
        if (line.substr(0, 8) == "#version") continue;
        const size_t space = line.find(' ');
        if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
          invalid_file("{}: not two parts at byte {}", name, cursor.offset());
        }
        left = line.substr(0, space);
        right = line.substr(space + 1);
      }
      if (out_.merges.size() == kMaxMerges) invalid_file("{}: more than {}", name, kMaxMerges);
      out_.merges.push_back(resolve_merge(out_.vocabulary, left, right, name));
    }
    cursor.expect_end();
  }

  void read_added_tokens(const Part& list) {
    if (list.is_null()) return;
    if (!list.value.is_array()) invalid_file("{}: not an array", list.where);
    for (size_t i = 0; i < list.value.size(); ++i) {
      const Part token = {list.value[i], fmt::format("{}[{}]", list.where, i)};
      add_unique(out_, read_added_token(token, token["id"].id()), token.where);
    }
  }

  std::string_view text_;
  std::string source_;
  std::string scratch_;
  Json model_;
  std::string_view vocab_;
  std::string_view merges_;
  TokenizerFiles out_;
};

// The id that a key of tokenizer_config.json names by its text, or by an object with "content".
std::optional<int32_t> named_token(const TokenizerFiles& tokens, const Part& part) {
  if (part.is_null()) return std::nullopt;
  const std::string& content = part.value.is_object() ? part["content"].string() : part.string();
  const auto added = std::find_if(tokens.added.begin(), tokens.added.end(),
                                  [&](const AddedToken& token) { return token.content == content; });
  if (added != tokens.added.end()) return added->id;
  const std::optional<int32_t> id = tokens.vocabulary.find(content);
  if (!id) invalid_file("{}: {} is not in the vocabulary", part.where, shown(content));
  return id;
}

void read_config(const Json& config, const std::string& source, TokenizerFiles& out) {
  if (!config.is_object()) invalid_file("{}: not an object", source);
  const auto part = [&](const char* key) { return Part{Part{config, ""}[key].value, source + ": " + key}; };
  const Part decoder = part("added_tokens_decoder");
  if (!decoder.is_null()) {
    if (!decoder.value.is_object()) invalid_file("{}: not an object", decoder.where);
    for (const auto& [key, value] : decoder.value.items()) {
      const Part token = {value, decoder.where + "." + one_line(key)};
      const bool number =
          !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
      if (!number) invalid_file("{}: the key is not a token id", token.where);
      add_unique(out, read_added_token(token, std::stoi(key)), token.where);
    }
  }
  out.bos = named_token(out, part("bos_token"));
  out.eos = named_token(out, part("eos_token"));
}

}  // namespace

TokenizerFiles read_tokenizer_json(const FileSet& files) {
  const MappedFile file = files.open(kFile);
  TokenizerFiles out = JsonReader(file.text(), file.name()).read();
  if (const auto config = files.find(kConfigFile)) {
    read_config(parse_json(config->text(), config->name()), config->name(), out);
  }
  return out;
}

}  // namespace qwick
