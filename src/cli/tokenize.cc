// `qwick tokenize`: text to ids, --decode: ids to text. --jsonl works line by line, for scripts that
// have many texts.
#include <fmt/core.h>

#include <charconv>
#include <iostream>

#include "base/error.h"
#include "base/json.h"
#include "cli/input.h"
#include "hub/loaded_model.h"

namespace qwick::cli {
namespace {

// Ids separated by commas or white space, with or without brackets: what other tools print.
std::vector<int32_t> parse_ids(std::string_view text) {
  std::vector<int32_t> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  constexpr std::string_view kBetween = " \t\r\n,[]";
  while (true) {
    while (at != end && kBetween.find(*at) != std::string_view::npos) ++at;
    if (at == end) return ids;
    int32_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 0) {
      fail(ErrorCode::kInvalidArgument, "no token id at byte {} of the input", at - text.data());
    }
    ids.push_back(id);
    at = next;
  }
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int decode(const Tokenizer& tokenizer, const Options& options) {
  const std::vector<int32_t> ids = options.ids.empty() ? parse_ids(read_text(options)) : options.ids;
  for (const int32_t id : ids) {
    if (id < 0 || id >= tokenizer.vocab_size()) {
      fail(ErrorCode::kInvalidArgument, "id {} is outside the vocabulary of {} tokens", id,
           tokenizer.vocab_size());
    }
  }
  const std::string text = tokenizer.decode(ids);
  fmt::print("{}\n", options.json ? dump({{"text", text}}) : text);
  return 0;
}

}  // namespace

int tokenize(const Options& options) {
  const Tokenizer tokenizer = load_tokenizer(open_model_files(options.model));
  if (options.decode) return decode(tokenizer, options);
  const SpecialText special = options.no_special ? SpecialText::kPlain : SpecialText::kParse;

  if (options.jsonl) {
    std::ios::sync_with_stdio(false);
    std::string line;
    for (size_t number = 1; std::getline(std::cin, line); ++number) {
      const Json text = parse_json(line, fmt::format("line {}", number));
      if (!text.is_string()) fail(ErrorCode::kInvalidArgument, "line {}: not a JSON string", number);
      std::cout << dump({{"ids", tokenizer.encode(text.get_ref<const std::string&>(), special)}}) << '\n';
    }
    return 0;
  }

  const std::vector<int32_t> ids = tokenizer.encode(read_text(options), special);
  if (options.json) {
    fmt::print("{}\n", dump({{"ids", ids}}));
  } else {
    for (const int32_t id : ids) fmt::print("{}\t{}\n", id, dump(std::string(tokenizer.token_bytes(id))));
  }
  return 0;
}

}  // namespace qwick::cli
