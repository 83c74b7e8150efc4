// The checks that tokenizer.json and GGUF share. See tokenizer_files.h.
#include "text/tokenizer_files.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "text/byte_alphabet.h"
#include "text/unicode.h"

namespace qwick {
namespace {

void check_token(int32_t id, std::string_view token, std::string_view where) {
  if (id < 0 || id > kMaxTokenId) {
    invalid_file("{}: token {} has id {}; ids go from 0 to {}", where, shown(token), id, kMaxTokenId);
  }
  if (token.size() > kMaxTokenBytes) {
    invalid_file("{}: token {} of id {} is longer than {} bytes", where, shown(token), id, kMaxTokenBytes);
  }
  if (!is_utf8(token)) invalid_file("{}: the token of id {} is not UTF-8", where, id);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  append_lossy(text.substr(0, 60), false, out);
  if (text.size() > 60) out += "...";
  return printable(std::move(out));
}

std::string shown(std::string_view token) {
  return '"' + one_line(token) + '"';
}

void add_model_token(Vocabulary& vocabulary, int32_t id, std::string_view token, std::string_view where) {
  check_token(id, token, where);
  std::string bytes;
  const bool listed = append_alphabet_bytes(token, bytes) && !bytes.empty();
  // Text reaches a token through the alphabet only; another can still be generated, and is itself.
  const Vocabulary::Added added = listed ? vocabulary.add(id, bytes) : vocabulary.add_unlisted(id, token);
  if (added == Vocabulary::Added::kIdTaken) {
    invalid_file("{}: token {} has id {}, which another token has already", where, shown(token), id);
  }
  if (added == Vocabulary::Added::kBytesTaken) {
    invalid_file("{}: token {} of id {} is there twice", where, shown(token), id);
  }
}

void add_added_token(TokenizerFiles& out, AddedToken token, std::string_view where) {
  check_token(token.id, token.content, where);
  if (token.content.empty()) invalid_file("{}: the added token of id {} is empty", where, token.id);
  if (token.content.size() > kMaxAddedTokenBytes) {
    fail(ErrorCode::kUnsupported, "{}: added token {} is longer than {} bytes", where, shown(token.content),
         kMaxAddedTokenBytes);
  }
  // Decoding gives the normalized form, read through the byte alphabet, as in Hugging Face.
  std::string buffer;
  const std::string_view shown_as =
      token.normalized && out.nfc ? normalize_nfc(token.content, buffer) : token.content;
  std::string bytes;
  const bool in_alphabet = append_alphabet_bytes(shown_as, bytes);
  if (!in_alphabet) bytes = shown_as;
  if (out.vocabulary.contains(token.id)) {
    if (out.vocabulary.bytes(token.id) != bytes) {
      invalid_file("{}: added token {} has id {}, which token {} has already", where, shown(token.content),
                   token.id, shown(out.vocabulary.bytes(token.id)));
    }
  } else if (const auto other = out.vocabulary.find(bytes); other && in_alphabet) {
    invalid_file("{}: added token {} has id {}, but id {} in the vocabulary", where, shown(token.content),
                 token.id, *other);
  } else {
    out.vocabulary.add_unlisted(token.id, bytes);
  }
  out.added.push_back(std::move(token));
}

Bpe::Merge resolve_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
                         std::string_view where) {
  std::string bytes;
  const auto find = [&](std::string_view part) {
    const std::optional<int32_t> id = vocabulary.find(part);
    if (!id)
      invalid_file("{}: {} of the merge {} {} is not in the vocabulary", where, shown(part), shown(left),
                   shown(right));
    return *id;
  };
  if (left.empty() || right.empty() || !append_alphabet_bytes(left, bytes)) {
    invalid_file("{}: the merge {} {} is not of two byte-level tokens", where, shown(left), shown(right));
  }
  const size_t cut = bytes.size();
  if (!append_alphabet_bytes(right, bytes)) {
    invalid_file("{}: the merge {} {} is not of two byte-level tokens", where, shown(left), shown(right));
  }
  const std::string_view both = bytes;
  return {find(both.substr(0, cut)), find(both.substr(cut)), find(both)};
}

}  // namespace qwick
