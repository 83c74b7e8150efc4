// The 256 printable characters in which tokenizer files of the GPT-2 kind write bytes: printable
// Latin-1 stands for itself, every other byte for the next character from U+0100 on.
#pragma once

#include <string>
#include <string_view>

namespace qwick {

// Appends the bytes that a token's characters stand for. False, with out as it was, where one
// character is not of the alphabet.
bool append_alphabet_bytes(std::string_view token, std::string& out);

// The character of a byte, in UTF-8.
std::string alphabet_char(unsigned char byte);

}  // namespace qwick
