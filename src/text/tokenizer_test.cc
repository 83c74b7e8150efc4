// The tokenizer as a whole: a small one written out here, broken files, streaming, and the real
// Qwen3 file where it is. Equality with Hugging Face is shown in tests/differential.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/error.h"
#include "base/json.h"
#include "text/byte_alphabet.h"
#include "text/json_cursor.h"

namespace qwick {
namespace {

// 256 bytes (id = byte), a few merges, added tokens.
Json small_tokenizer() {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[alphabet_char(static_cast<unsigned char>(byte))] = byte;
  Json merges = Json::array();
  const auto merge = [&](const std::string& left, const std::string& right) {
    vocab[left + right] = vocab.size();
    merges.push_back({left, right});
  };
  merge("h", "e");                                  // 256
  merge("l", "l");                                  // 257
  merge("he", "ll");                                // 258
  merge("hell", "o");                               // 259
  merge(alphabet_char(' '), "hello");               // 260
  merge(alphabet_char(0xC3), alphabet_char(0xA9));  // 261: U+00E9
  const auto added = [](int id, const char* content, bool special) {
    return Json{{"id", id}, {"content", content}, {"special", special}, {"normalized", false}};
  };
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"added_tokens", {added(270, "<|end|>", true), added(271, "<think>", false)}},
          {"normalizer", {{"type", "NFC"}}},
          {"pre_tokenizer", byte_level},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

Tokenizer load(const std::string& tokenizer, const std::string& config = "{}") {
  return Tokenizer::from_hf(
      FileSet::embedded("set", {{"tokenizer.json", std::as_bytes(std::span(tokenizer))},
                                {"tokenizer_config.json", std::as_bytes(std::span(config))}}));
}

Tokenizer load(const Json& tokenizer, const Json& config = Json::object()) {
  return load(tokenizer.dump(), config.dump());
}

using Ids = std::vector<int32_t>;

TEST(Tokenizer, EncodesAndDecodes) {
  const Tokenizer tokenizer = load(small_tokenizer());
  EXPECT_EQ(tokenizer.encode("hello hello"), (Ids{259, 260}));
  EXPECT_EQ(tokenizer.encode("he\xC3\xA9"), (Ids{256, 261}));
  EXPECT_EQ(tokenizer.encode("e\xCC\x81"), (Ids{261}));  // composed
  EXPECT_EQ(tokenizer.encode(""), Ids{});
  EXPECT_EQ(tokenizer.decode(Ids{259, 260, 261}), "hello hello\xC3\xA9");
  EXPECT_EQ(tokenizer.encode(std::string_view("\0\xFF", 2)), (Ids{0, 255}));
  EXPECT_EQ(tokenizer.decode_bytes(Ids{0, 255}), std::string("\0\xFF", 2));
  EXPECT_EQ(tokenizer.decode(Ids{255}), "\xEF\xBF\xBD");
}

TEST(Tokenizer, AddedTokens) {
  const Tokenizer tokenizer = load(small_tokenizer());
  EXPECT_EQ(tokenizer.encode("<|end|>hello<think>"), (Ids{270, 259, 271}));
  EXPECT_EQ(tokenizer.encode("<think>", SpecialText::kPlain), (Ids{271}));
  EXPECT_EQ(tokenizer.encode("<|end|>", SpecialText::kPlain), (Ids{'<', '|', 'e', 'n', 'd', '|', '>'}));
  EXPECT_EQ(tokenizer.decode(Ids{270, 259, 271}), "<|end|>hello<think>");
  EXPECT_EQ(tokenizer.decode(Ids{270, 259, 271}, true), "hello<think>");
}

TEST(Tokenizer, KnowsItsVocabulary) {
  const Tokenizer tokenizer = load(small_tokenizer(), {{"eos_token", "<|end|>"}, {"bos_token", nullptr}});
  EXPECT_EQ(tokenizer.vocab_size(), 272);
  EXPECT_TRUE(tokenizer.is_used(261));
  EXPECT_FALSE(tokenizer.is_used(262));
  EXPECT_FALSE(tokenizer.is_used(-1));
  EXPECT_FALSE(tokenizer.is_used(272));
  EXPECT_TRUE(tokenizer.is_special(270));
  EXPECT_FALSE(tokenizer.is_special(271));
  EXPECT_FALSE(tokenizer.is_special(-1));
  EXPECT_EQ(tokenizer.token_bytes(260), " hello");
  EXPECT_EQ(tokenizer.token_bytes(265), "");
  EXPECT_EQ(tokenizer.find_token("<|end|>"), 270);
  EXPECT_EQ(tokenizer.find_token(" hello"), 260);
  EXPECT_EQ(tokenizer.find_token("nothing"), std::nullopt);
  EXPECT_EQ(tokenizer.eos_id(), 270);
  EXPECT_EQ(tokenizer.bos_id(), std::nullopt);
  EXPECT_EQ(tokenizer.describe(), "byte-level BPE, 264 tokens (2 added), NFC, gpt-2 pre-tokenizer");
}

TEST(StreamDecoder, NeverCutsACharacter) {
  const Tokenizer tokenizer = load(small_tokenizer());
  StreamDecoder stream(tokenizer);
  EXPECT_EQ(stream.push(0xE4), "");
  EXPECT_EQ(stream.push(0xBD), "");
  EXPECT_EQ(stream.push(270), "");  // special and hidden, in the middle of a character
  EXPECT_EQ(stream.push(0xA0), "\xE4\xBD\xA0");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push('x'), "\xEF\xBF\xBDx");
  EXPECT_EQ(stream.push(0xFF), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.flush(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.flush(), "");
}

TEST(StreamDecoder, EqualsDecode) {
  const Tokenizer tokenizer = load(small_tokenizer());
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    Ids ids(random() % 20);
    for (int32_t& id : ids)
      id = static_cast<int32_t>(random() % 2 == 0 ? 0x80 + random() % 128 : random() % 275);
    for (const bool skip : {false, true}) {
      StreamDecoder stream(tokenizer, skip);
      std::string text;
      for (const int32_t id : ids) text += stream.push(id);
      text += stream.flush();
      EXPECT_EQ(text, tokenizer.decode(ids, skip));
    }
  }
}

// What a broken or foreign file must be answered with: an Error of this code whose one line has these
// words.
void expect_error(const std::string& tokenizer, ErrorCode code, std::string_view words,
                  const std::string& config = "{}") {
  try {
    load(tokenizer, config);
    ADD_FAILURE() << "no error, expected: " << words;
  } catch (const Error& error) {
    const std::string_view what = error.what();
    EXPECT_EQ(error.code(), code) << what;
    EXPECT_NE(what.find(words), std::string_view::npos) << what << "\nhas not: " << words;
    EXPECT_EQ(what.find('\n'), std::string_view::npos) << what;
    EXPECT_EQ(what.substr(0, 4), "set/") << what;
  }
}

void expect_error(const Json& patch, ErrorCode code, std::string_view words) {
  Json tokenizer = small_tokenizer();
  tokenizer.merge_patch(patch);
  expect_error(tokenizer.dump(), code, words);
}

Json model(Json part) {
  return Json{{"model", std::move(part)}};
}

TEST(TokenizerErrors, NameThePart) {
  constexpr auto kInvalid = ErrorCode::kInvalidFile;
  constexpr auto kUnsupported = ErrorCode::kUnsupported;
  expect_error(Json{{"normalizer", {{"type", "NFKC"}}}}, kUnsupported, "tokenizer.json: normalizer: ");
  expect_error(Json{{"pre_tokenizer", {{"type", "BertPreTokenizer"}}}}, kUnsupported,
               "tokenizer.json: pre_tokenizer: ");
  expect_error(Json{{"pre_tokenizer", {{"add_prefix_space", true}}}}, kUnsupported,
               "tokenizer.json: pre_tokenizer: ");
  expect_error(Json{{"decoder", nullptr}}, kUnsupported, "tokenizer.json: decoder: ");
  expect_error(Json{{"model", nullptr}}, kInvalid, "no model");
  expect_error(model({{"type", "Unigram"}}), kUnsupported, "model.type");
  expect_error(model({{"dropout", 0.5}}), kUnsupported, "model.dropout");
  expect_error(model({{"byte_fallback", true}}), kUnsupported, "model.byte_fallback");
  expect_error(model({{"end_of_word_suffix", "</w>"}}), kUnsupported, "model.end_of_word_suffix");
  expect_error(model({{"vocab", nullptr}}), kInvalid, "model has no vocab");
  expect_error(model({{"merges", nullptr}}), kInvalid, "model has no merges");
  expect_error(model({{"ignore_merges", 1}}), kInvalid, "model.ignore_merges");
  expect_error(model({{"vocab", {{"new", 5}}}}), kInvalid,
               "\"new\" has id 5, which another token has already");
  expect_error(model({{"vocab", {{"new", -5}}}}), kInvalid, "expected a whole number");
  expect_error(model({{"vocab", {{"new", 1.5}}}}), kInvalid, "expected a whole number");
  expect_error(model({{"vocab", {{"new", 1 << 21}}}}), kInvalid, "ids go from 0 to");
  expect_error(model({{"vocab", {{"new", 1LL << 40}}}}), kInvalid, "a number too large");
  expect_error(model({{"merges", {"a b c"}}}), kInvalid, "model.merges: not two parts");
  expect_error(model({{"merges", {"ab"}}}), kInvalid, "model.merges: not two parts");
  expect_error(model({{"merges", {"a b"}}}), kInvalid,
               "\"ab\" of the merge \"a\" \"b\" is not in the vocabulary");
  const auto one_merge = [](Json merge) { return model({{"merges", Json::array({std::move(merge)})}}); };
  expect_error(one_merge({"", "b"}), kInvalid, "is not of two byte-level tokens");
  expect_error(one_merge({"a", "\xE4\xBD\xA0"}), kInvalid, "is not of two byte-level tokens");
  expect_error(one_merge({"a", "b", "c"}), kInvalid, "expected ']'");
  const auto added = [](Json token) { return Json{{"added_tokens", {std::move(token)}}}; };
  expect_error(added({{"id", 270}}), kInvalid, "added_tokens[0].content: not a string");
  expect_error(added({{"content", "<x>"}}), kInvalid, "added_tokens[0].id: not a token id");
  expect_error(added({{"id", 1e9}, {"content", "<x>"}}), kInvalid, "added_tokens[0].id: not a token id");
  expect_error(added({{"id", 280}, {"content", ""}}), kInvalid, "is empty");
  expect_error(added({{"id", 4}, {"content", "<x>"}}), kInvalid, "which token \" \" has already");
  expect_error(added({{"id", 280}, {"content", "hello"}}), kInvalid,
               "has id 280, but id 259 in the vocabulary");
  expect_error(added({{"id", 280}, {"content", std::string(2000, 'x')}}), kUnsupported, "is longer than");
  // What a file names may have lines of its own; the message has one.
  const Json two = Json::array({{{"id", 280}, {"content", "<x\ny>"}}, {{"id", 280}, {"content", "<z>"}}});
  expect_error(Json{{"added_tokens", two}}, kInvalid,
               "id 280 and \"<z>\" contradict the added token \"<x y>\" of id 280");
  expect_error(std::string(R"({"model": {}, "a\nb": tru})"), kInvalid, "tokenizer.json: a b: not valid JSON");
  expect_error(std::string(R"({"model": {"a\nb": tru}})"), kInvalid,
               "tokenizer.json: model.a b: not valid JSON");
}

TEST(TokenizerErrors, OfTheConfig) {
  const std::string tokenizer = small_tokenizer().dump();
  constexpr auto kInvalid = ErrorCode::kInvalidFile;
  expect_error(tokenizer, kInvalid, "tokenizer_config.json: eos_token: \"<x>\"", R"({"eos_token": "<x>"})");
  expect_error(tokenizer, kInvalid, "eos_token: \"a b\" is not in", R"({"eos_token": "a\nb"})");
  expect_error(tokenizer, kInvalid, "added_tokens_decoder.a b: the key",
               R"({"added_tokens_decoder": {"a\nb": {}}})");
  expect_error(tokenizer, kInvalid, "tokenizer_config.json: not an object", "[]");
  expect_error(tokenizer, kInvalid, "tokenizer_config.json: not valid JSON", "{");
  expect_error(tokenizer, kInvalid, "added_tokens_decoder.x: the key",
               R"({"added_tokens_decoder": {"x": {}}})");
  expect_error(tokenizer, kInvalid, "contradict the added token",
               R"({"added_tokens_decoder": {"270": {"content": "<x>"}}})");
}

TEST(TokenizerErrors, OfTheFile) {
  EXPECT_THROW(Tokenizer::from_hf(FileSet::embedded("set", {})), Error);
  const std::string whole = small_tokenizer().dump();
  for (size_t n = 0; n < whole.size(); n += 7) {
    expect_error(whole.substr(0, n), ErrorCode::kInvalidFile, "tokenizer.json");
  }
  expect_error(whole + "x", ErrorCode::kInvalidFile, "expected the end");
  expect_error("{\"model\":" + std::string(100000, '['), ErrorCode::kInvalidFile, "expected '{'");
  expect_error("{\"x\":" + std::string(100000, '['), ErrorCode::kInvalidFile, "nested deeper");
}

TEST(JsonCursor, ReadsStringsAsJsonDoes) {
  for (const std::string text : {R"("plain")", R"("\"\\\/\b\f\n\r\t")", R"("\u00e9\u4f60\ud83d\ude00x")",
                                 R"("")", "\"\xC4\xA0token\"", R"("a\u0000b")"}) {
    std::string scratch;
    JsonCursor cursor(text, "test");
    EXPECT_EQ(cursor.string(scratch), parse_json(text, "test").get<std::string>());
    cursor.expect_end();
  }
  for (const std::string text : {R"("open)", R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ud83d\u0041")",
                                 R"("\udc00")", "\"line\n\"", R"("\)", "x"}) {
    std::string scratch;
    JsonCursor cursor(text, "test");
    EXPECT_THROW(cursor.string(scratch), Error) << text;
    EXPECT_THROW(parse_json(text, "test"), Error) << text;
  }
}

TEST(JsonCursor, SkipsAValue) {
  const std::string text = R"( [1, {"a]": "}\"", "b": [[]]}, null] , "next")";
  JsonCursor cursor(text, "test");
  EXPECT_EQ(cursor.skip(), R"([1, {"a]": "}\"", "b": [[]]}, null])");
  cursor.expect(',');
  EXPECT_EQ(cursor.skip(), "\"next\"");
  cursor.expect_end();
}

TEST(Tokenizer, Qwen3) {
  const char* folder = std::getenv("QWICK_TEST_MODELS");
  const char* home = std::getenv("HOME");
  const std::filesystem::path path =
      (folder != nullptr ? std::filesystem::path(folder)
                         : std::filesystem::path(home != nullptr ? home : "") / ".cache/qwick/test-models") /
      "qwen3-tokenizer";
  if (!std::filesystem::exists(path / "tokenizer.json"))
    GTEST_SKIP() << path << " is not there: make test-models";
  const Tokenizer tokenizer = Tokenizer::from_hf(FileSet::directory(path));
  EXPECT_EQ(tokenizer.vocab_size(), 151669);
  EXPECT_EQ(tokenizer.describe(), "byte-level BPE, 151669 tokens (26 added), NFC, qwen2 pre-tokenizer");
  EXPECT_EQ(tokenizer.eos_id(), 151645);
  EXPECT_EQ(tokenizer.find_token("<think>"), 151667);
  EXPECT_EQ(tokenizer.encode("<|im_start|>user\nhi<|im_end|> <think>"),
            (Ids{151644, 872, 198, 6023, 151645, 220, 151667}));
  EXPECT_EQ(tokenizer.encode("Hello world, it's 12345"),
            (Ids{9707, 1879, 11, 432, 594, 220, 16, 17, 18, 19, 20}));
}

}  // namespace
}  // namespace qwick
