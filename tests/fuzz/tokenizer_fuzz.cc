// Two things, by the first byte. 'J': the rest is a tokenizer.json, which must load or give an Error
// of one line. Else: the rest is a text, valid or not, for a small fixed tokenizer: its ids must give
// the (normalized) text back, whole and streamed. Run by tests/fuzz/run.sh.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace {

using qwick::Json;
using qwick::SpecialText;
using qwick::Tokenizer;

Tokenizer load(std::string_view json) {
  const auto bytes = std::as_bytes(std::span(json.data(), json.size()));
  return Tokenizer::from_hf(qwick::FileSet::embedded("set", {{"tokenizer.json", bytes}}));
}

// All bytes, some merges inside and across characters, added tokens; the Qwen2 pre-tokenizer, NFC.
Tokenizer fixed() {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[qwick::alphabet_char(static_cast<unsigned char>(byte))] = byte;
  Json merges = Json::array();
  const auto merge = [&](std::initializer_list<unsigned char> left,
                         std::initializer_list<unsigned char> right) {
    std::string parts[2];
    for (const unsigned char c : left) parts[0] += qwick::alphabet_char(c);
    for (const unsigned char c : right) parts[1] += qwick::alphabet_char(c);
    vocab[parts[0] + parts[1]] = vocab.size();
    merges.push_back({parts[0], parts[1]});
  };
  merge({'a'}, {'a'});
  merge({'a', 'a'}, {'a'});
  merge({'a', 'a'}, {'a', 'a'});
  merge({' '}, {'a'});
  merge({0xCC}, {0x81});
  merge({0x81}, {0xCC});
  merge({'\n'}, {'\n'});
  const char* qwen2 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const Json split = {
      {"type", "Split"}, {"pattern", {{"Regex", qwen2}}}, {"behavior", "Isolated"}, {"invert", false}};
  const auto added = [](int id, const char* content, bool special) {
    return Json{{"id", id}, {"content", content}, {"special", special}, {"normalized", false}};
  };
  const Json tokenizer = {{"added_tokens", {added(300, "<|end|>", true), added(301, "<t>", false)}},
                          {"normalizer", {{"type", "NFC"}}},
                          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}}},
                          {"decoder", byte_level},
                          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
  return load(tokenizer.dump());
}

void check_json(std::string_view json) {
  try {
    const Tokenizer tokenizer = load(json);
    const std::string_view text = json.substr(0, 1000);
    for (const int32_t id : tokenizer.encode(text)) QWICK_CHECK(tokenizer.is_used(id));
  } catch (const qwick::Error& error) {
    QWICK_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

// Added tokens keep what is before and after them from composing, so the text between them is what
// the normalized text is made of.
std::string normalized(const Tokenizer& tokenizer, std::string_view text, SpecialText mode) {
  std::string out;
  std::string buffer;
  size_t begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    size_t length = 0;
    if (text.substr(pos, 7) == "<|end|>" && mode == SpecialText::kParse) length = 7;
    if (text.substr(pos, 3) == "<t>") length = 3;
    if (length == 0) {
      ++pos;
      continue;
    }
    out += qwick::normalize_nfc(text.substr(begin, pos - begin), buffer);
    out += text.substr(pos, length);
    begin = pos += length;
  }
  out += qwick::normalize_nfc(text.substr(begin), buffer);
  QWICK_CHECK(tokenizer.vocab_size() == 302);
  return out;
}

void check_text(const Tokenizer& tokenizer, std::string_view text) {
  for (const SpecialText mode : {SpecialText::kParse, SpecialText::kPlain}) {
    const std::vector<int32_t> ids = tokenizer.encode(text, mode);
    QWICK_CHECK(tokenizer.decode_bytes(ids) == normalized(tokenizer, text, mode));
    for (const bool skip : {false, true}) {
      qwick::StreamDecoder stream(tokenizer, skip);
      std::string streamed;
      for (const int32_t id : ids) {
        const std::string part = stream.push(id);
        QWICK_CHECK(qwick::is_utf8(part));
        streamed += part;
      }
      QWICK_CHECK(streamed + stream.flush() == tokenizer.decode(ids, skip));
    }
  }
  std::string once;
  std::string twice;
  const std::string normal(qwick::normalize_nfc(text, once));
  QWICK_CHECK(qwick::normalize_nfc(normal, twice) == normal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizer tokenizer = fixed();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.substr(0, 1) == "J") {
    check_json(input.substr(1));
  } else if (!input.empty()) {
    check_text(tokenizer, input.substr(1));
  }
  return 0;
}
