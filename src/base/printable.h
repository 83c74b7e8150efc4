// A stranger's text, for one line of a message or of the log.
#pragma once

#include <string>

namespace qwick {

// Control characters become spaces: no second line, and nothing that a terminal would obey.
inline std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace qwick
