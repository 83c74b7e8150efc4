// Template source to tokens, as Jinja cuts it up with trim_blocks and lstrip_blocks: which white space
// around tags is dropped is decided here. Called by the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qwick::jinja {

enum class TokenKind : uint8_t {
  kText,
  kPrintBegin,
  kPrintEnd,
  kTagBegin,
  kTagEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text;  // names, operators, string contents (unescaped), template text
  int64_t integer = 0;
  double real = 0;
};

// Throws Error kUnsupported "NAME, line N: ...". The last token is kEnd.
std::vector<Token> tokenize(std::string_view source, const std::string& name);

}  // namespace qwick::jinja
