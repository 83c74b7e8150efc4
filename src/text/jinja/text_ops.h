// Operations on text that string methods and filters share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/operators.h"

namespace qwick::jinja {

// str.replace: at most `count` times, without bound if negative.
std::string replace_text(Budget& budget, std::string_view text, std::string_view old, std::string_view with,
                         int64_t count);
// str.strip and its one-sided kin: the characters of `chars`, or white space if null.
enum class Side : uint8_t { kBoth, kLeft, kRight };
std::string_view strip_chars(std::string_view text, const Value* chars, Side side);
bool is_lower_text(std::string_view text);  // str.islower(), str.isupper()
bool is_upper_text(std::string_view text);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);
// Padding to `width` characters, as str.center, ljust and rjust put it.
enum class Align : uint8_t { kLeft, kCenter, kRight };
std::string pad_text(Budget& budget, std::string_view text, int64_t width, std::string_view fill,
                     Align align);
// int(text, base) and float(text); false where Python raises ValueError.
bool parse_integer(std::string_view text, int base, int64_t& out);
bool parse_double(std::string_view text, double& out);

}  // namespace qwick::jinja
