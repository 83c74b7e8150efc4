// The pre-tokenizers: where a text is cut into the pieces that byte-pair merges never cross. Each is
// a hand-written scanner for one regular expression (quoted in pretokenize.cc), called by
// Tokenizer::encode once per piece. No state, any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace qwick {

enum class PreTokenizer {
  kGpt2,
  kQwen2,   // and Qwen3
  kLlama3,  // Qwen2's with up to three digits in a piece
  kSmolLm,  // every digit apart, then GPT-2's
};

std::string_view pre_tokenizer_name(PreTokenizer kind);

// The pre-tokenizer that a tokenizer.json states as a regular expression.
std::optional<PreTokenizer> pre_tokenizer_of_regex(std::string_view pattern);

// Where the piece that begins at pos ends; pos < text.size(), at the begin of a piece. Pieces cover
// the text. An ill-formed UTF-8 sequence splits as U+FFFD would: like punctuation.
size_t next_piece(PreTokenizer kind, std::string_view text, size_t pos);

}  // namespace qwick
