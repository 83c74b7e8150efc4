// Python's view of text: code points, white space, character classes and case mappings as str has
// them. Used by the lexer and by the string methods and filters. All text inside text/jinja is valid
// UTF-8: it is checked where it comes in (template source, JSON).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qwick::jinja {

bool is_valid_utf8(std::string_view text);
// Decodes the character at `pos` (which must be inside valid UTF-8) and moves `pos` behind it.
char32_t next_char(std::string_view text, size_t& pos);
// Decodes the character that ends at `pos` and moves `pos` to its first byte.
char32_t previous_char(std::string_view text, size_t& pos);
void append_char(std::string& out, char32_t c);
size_t count_chars(std::string_view text);
// Byte offset of the character number `index`; the size where there are fewer.
size_t char_offset(std::string_view text, size_t index);

bool is_space(char32_t c);
bool is_line_break(char32_t c);  // as str.splitlines(); "\r\n" is one break
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);
bool is_printable(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title_case(std::string_view text);  // str.title(), not the filter
std::string swap_case(std::string_view text);

std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
inline std::string_view strip(std::string_view text) {
  return strip_left(strip_right(text));
}

}  // namespace qwick::jinja
