// Text to token ids and back: byte-level BPE as Qwen and SmolLM2 use it, with the same ids as
// Hugging Face tokenizers. Made from tokenizer.json or from GGUF metadata; immutable afterwards and
// safe to share between threads. Template rendering and encoding stay off the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "format/gguf.h"

namespace qwick {

// How text that spells an added token ("<|im_end|>") is read.
enum class SpecialText {
  kParse,  // as the token: prompts rendered by a chat template
  kPlain,  // special tokens as plain text; added tokens that are not special stay tokens
};

class Tokenizer {
 public:
  // tokenizer.json, and tokenizer_config.json where there is one (added_tokens_decoder, bos, eos).
  // Throws Error kInvalidFile, kUnsupported naming the file and the part.
  static Tokenizer from_hf(const FileSet& files);
  static Tokenizer from_gguf(const GgufFile& file);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Invalid UTF-8 is encoded byte by byte. No BOS or EOS is added.
  std::vector<int32_t> encode(std::string_view text, SpecialText special = SpecialText::kParse) const;
  // The bytes of the ids one after another; ids outside the vocabulary give nothing. Not necessarily
  // UTF-8: StreamDecoder and decode() are what users see.
  std::string decode_bytes(std::span<const int32_t> ids, bool skip_special = false) const;
  // decode_bytes with invalid UTF-8 replaced by U+FFFD, as Hugging Face does.
  std::string decode(std::span<const int32_t> ids, bool skip_special = false) const;

  // Number of ids: the largest id + 1. A model's embedding may be padded beyond it.
  int32_t vocab_size() const;
  std::string_view token_bytes(int32_t id) const;  // "" for ids that are not used
  bool is_used(int32_t id) const;                  // false: a gap or padding, never to be sampled
  bool is_special(int32_t id) const;               // hidden from the text that users get
  std::optional<int32_t> find_token(std::string_view bytes) const;  // by exact bytes, added ones first
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;  // the tokenizer's own; the model's list is in its config
  // One line for `inspect`: "byte-level BPE, 151669 tokens (26 added), NFC, qwen2 pre-tokenizer".
  std::string describe() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Turns ids into text as they come, never cutting a character: bytes of an unfinished UTF-8 sequence
// wait for the next id. What can no longer become valid turns into U+FFFD at once, so that the
// concatenation equals Tokenizer::decode of all ids.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  std::string push(int32_t id);
  std::string flush();  // at the end: what is still held back, as U+FFFD

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::string pending_;
};

}  // namespace qwick
