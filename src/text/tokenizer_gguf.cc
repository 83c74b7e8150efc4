// Reads a tokenizer from the metadata of a GGUF file (keys "tokenizer.ggml."). The normalizer and
// the rules of the added tokens are not in there: they follow from the name of the pre-tokenizer.
#include <array>

#include "base/error.h"
#include "format/message.h"
#include "text/tokenizer_files.h"

namespace qwick {
namespace {

struct Kind {
  std::string_view name;
  PreTokenizer pre_tokenizer;
  bool nfc;
  bool ignore_merges;
};

// What Hugging Face's tokenizer.json says for the models that are converted with these names.
constexpr std::array<Kind, 6> kKinds = {{
    {"qwen2", PreTokenizer::kQwen2, true, false},
    {"smollm", PreTokenizer::kSmolLm, false, false},
    {"gpt-2", PreTokenizer::kGpt2, false, false},
    {"llama-bpe", PreTokenizer::kLlama3, false, true},
    {"llama-v3", PreTokenizer::kLlama3, false, true},
    {"llama3", PreTokenizer::kLlama3, false, true},
}};

enum TokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5 };

const Kind& find_kind(const GgufFile& file) {
  const std::string_view model = file.get_string("tokenizer.ggml.model");
  if (model != "gpt2") {
    fail(ErrorCode::kUnsupported,
         "{}: tokenizer.ggml.model {} is not supported; byte-level BPE (\"gpt2\") is", file.name(),
         in_quotes(model));
  }
  const std::string_view name = file.get_string("tokenizer.ggml.pre");
  std::string names;
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  fail(ErrorCode::kUnsupported, "{}: tokenizer.ggml.pre {} is not supported; these are: {}", file.name(),
       in_quotes(name), names);
}

void read_tokens(const GgufFile& file, TokenizerFiles& out) {
  const std::string where = file.name() + ": tokenizer.ggml.tokens";
  const auto& tokens = file.get_strings("tokenizer.ggml.tokens");
  const auto types = file.find_ints("tokenizer.ggml.token_type");
  if (tokens.size() > static_cast<size_t>(kMaxTokenId)) invalid_file("{}: {} tokens", where, tokens.size());
  if (types && types->size() != tokens.size()) {
    invalid_file("{}: tokenizer.ggml.token_type has {} entries for {} tokens", file.name(), types->size(),
                 tokens.size());
  }
  out.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const int64_t type = types ? (*types)[i] : int64_t{kNormal};
    switch (type) {
      case kNormal:
        add_model_token(out.vocabulary, id, tokens[i], where);
        break;
      case kUnused:
        break;
      case kUnknown:
      case kControl:
      case kUserDefined: {
        AddedToken token;
        token.content = tokens[i];
        token.id = id;
        token.special = type != kUserDefined;
        add_added_token(out, std::move(token), where);
        break;
      }
      default:
        fail(ErrorCode::kUnsupported, "{}: tokenizer.ggml.token_type {} of token {} is not supported",
             file.name(), type, id);
    }
  }
}

void read_merges(const GgufFile& file, TokenizerFiles& out) {
  const std::string where = file.name() + ": tokenizer.ggml.merges";
  const auto& merges = file.get_strings("tokenizer.ggml.merges");
  if (merges.size() > kMaxMerges) invalid_file("{}: more than {}", where, kMaxMerges);
  out.merges.reserve(merges.size());
  for (const std::string_view merge : merges) {
    const size_t space = merge.find(' ');
    if (space == std::string_view::npos)
      invalid_file("{}: entry {} is not two parts", where, out.merges.size());
    out.merges.push_back(
        resolve_merge(out.vocabulary, merge.substr(0, space), merge.substr(space + 1), where));
  }
}

std::optional<int32_t> find_id(const GgufFile& file, const TokenizerFiles& tokens, std::string_view key) {
  const std::optional<uint64_t> id = file.find_uint(key);
  if (!id) return std::nullopt;
  if (*id > static_cast<uint64_t>(kMaxTokenId) || !tokens.vocabulary.contains(static_cast<int32_t>(*id))) {
    invalid_file("{}: {} is {}, which is not a token", file.name(), key, *id);
  }
  return static_cast<int32_t>(*id);
}

}  // namespace

TokenizerFiles read_tokenizer_gguf(const GgufFile& file) {
  const Kind& kind = find_kind(file);
  if (file.find_bool("tokenizer.ggml.add_space_prefix").value_or(false)) {
    fail(ErrorCode::kUnsupported, "{}: tokenizer.ggml.add_space_prefix is not supported", file.name());
  }
  TokenizerFiles out;
  out.pre_tokenizer = kind.pre_tokenizer;
  out.nfc = kind.nfc;
  out.ignore_merges = kind.ignore_merges;
  read_tokens(file, out);
  read_merges(file, out);
  out.bos = find_id(file, out, "tokenizer.ggml.bos_token_id");
  out.eos = find_id(file, out, "tokenizer.ggml.eos_token_id");
  return out;
}

}  // namespace qwick
