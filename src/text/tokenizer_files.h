// What both kinds of tokenizer files say, in one form: read by tokenizer_json.cc (Hugging Face) and
// tokenizer_gguf.cc, made into a Tokenizer by tokenizer.cc. Everything in it is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "format/gguf.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/pretokenize.h"
#include "text/vocabulary.h"

namespace qwick {

struct TokenizerFiles {
  Vocabulary vocabulary;           // added tokens included, as what they decode to
  std::vector<Bpe::Merge> merges;  // by rank
  std::vector<AddedToken> added;
  PreTokenizer pre_tokenizer = PreTokenizer::kGpt2;
  bool nfc = false;
  bool ignore_merges = false;
  std::optional<int32_t> bos, eos;
};

// Throw Error kInvalidFile, kUnsupported naming the file and the part.
TokenizerFiles read_tokenizer_json(const FileSet& files);
TokenizerFiles read_tokenizer_gguf(const GgufFile& file);

// Shared by the two.

// A merge rule's two parts, written in the byte alphabet, as ids. where: for messages.
Bpe::Merge resolve_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
                         std::string_view where);
// What a file calls something, for messages, readable in any script: it may be long, of several lines,
// or no text at all. format/message.h is for names that should be ASCII.
std::string one_line(std::string_view text);
std::string shown(std::string_view token);  // one_line() in quotes
// Adds a token of the model itself, written in the byte alphabet.
void add_model_token(Vocabulary& vocabulary, int32_t id, std::string_view token, std::string_view where);
// Adds to `added`, and to the vocabulary where it is not there yet under its id. out.nfc is set by then.
void add_added_token(TokenizerFiles& out, AddedToken token, std::string_view where);

}  // namespace qwick
