#include "format/message.h"

#include <fmt/core.h>

namespace qwick {

std::string in_quotes(std::string_view name) {
  constexpr size_t kLongest = 80;
  std::string out = "\"";
  for (const char c : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E || c == '"' || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += name.size() > kLongest ? "...\"" : "\"";
  return out;
}

}  // namespace qwick
