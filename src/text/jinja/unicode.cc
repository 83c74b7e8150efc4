// Python's view of text. Categories and simple case mappings come from utf8proc; what those leave
// open is in unicode_tables.h.
#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "text/jinja/unicode_tables.h"

namespace qwick::jinja {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool in_ranges(std::span<const CharRange> ranges, char32_t c) {
  const auto* range = std::lower_bound(ranges.data(), ranges.data() + ranges.size(), c,
                                       [](const CharRange& r, char32_t x) { return r.last < x; });
  return range != ranges.data() + ranges.size() && c >= range->first;
}

// Appends the mapping of `c` to several characters, if it has one.
bool append_expansion(std::span<const CharExpansion> table, char32_t c, std::string& out) {
  const auto* entry = std::lower_bound(table.data(), table.data() + table.size(), c,
                                       [](const CharExpansion& e, char32_t x) { return e.from < x; });
  if (entry == table.data() + table.size() || entry->from != c) return false;
  for (const char32_t to : entry->to) {
    if (to != 0) append_char(out, to);
  }
  return true;
}

void append_upper(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c));
  } else if (!append_expansion(kUpperExpansions, c, out)) {
    append_char(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_title(std::string& out, char32_t c) {
  if (c < 0x80) {
    append_upper(out, c);
  } else if (!append_expansion(kTitleExpansions, c, out)) {
    append_char(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

bool is_cased(char32_t c) {
  return is_lower(c) || is_upper(c) || category(c) == UTF8PROC_CATEGORY_LT;
}

// Unicode's Case_Ignorable: marks, modifiers, format characters and a few signs inside words.
bool is_case_ignorable(char32_t c) {
  switch (c) {
    case '\'':
    case '.':
    case ':':
    case 0xB7:
    case 0x387:
    case 0x55F:
    case 0x5F4:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
    case 0xFE13:
    case 0xFE52:
    case 0xFE55:
    case 0xFF07:
    case 0xFF0E:
    case 0xFF1A:
      return true;
    default:
      break;
  }
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

// A capital sigma becomes the final form at the end of a word.
bool is_final_sigma(std::string_view text, size_t begin, size_t end) {
  char32_t c = 0;
  size_t pos = begin;
  bool before = false;
  while (pos > 0) {
    c = previous_char(text, pos);
    if (!is_case_ignorable(c)) {
      before = is_cased(c);
      break;
    }
  }
  if (!before) return false;
  pos = end;
  while (pos < text.size()) {
    c = next_char(text, pos);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

// Lower case of the character `c` at [begin, end) of `text`.
void append_lower(std::string& out, char32_t c, std::string_view text, size_t begin, size_t end) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
  } else if (c == 0x3A3) {
    append_char(out, is_final_sigma(text, begin, end) ? 0x3C2 : 0x3C3);
  } else if (c == 0x130) {
    append_char(out, 'i');
    append_char(out, 0x307);
  } else {
    append_char(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  size_t pos = 0;
  while (pos < text.size()) {
    uint64_t word = 0;
    if (text.size() - pos >= sizeof word) {
      std::memcpy(&word, text.data() + pos, sizeof word);
      if ((word & 0x8080808080808080) == 0) {
        pos += sizeof word;
        continue;
      }
    }
    utf8proc_int32_t c = 0;
    const auto left = static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size() - pos, 4));
    const utf8proc_ssize_t size = utf8proc_iterate(data + pos, left, &c);
    if (size <= 0) return false;
    pos += static_cast<size_t>(size);
  }
  return true;
}

char32_t next_char(std::string_view text, size_t& pos) {
  const auto byte = [&](size_t i) -> char32_t { return static_cast<unsigned char>(text[i]); };
  const char32_t lead = byte(pos);
  const size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 1 || text.size() - pos < size) {
    ++pos;
    return lead;
  }
  char32_t c = lead & (0xFFU >> (size + 1));
  for (size_t i = 1; i < size; ++i) c = (c << 6) | (byte(pos + i) & 0x3F);
  pos += size;
  return c;
}

char32_t previous_char(std::string_view text, size_t& pos) {
  --pos;
  while (pos > 0 && (static_cast<unsigned char>(text[pos]) & 0xC0) == 0x80) --pos;
  size_t begin = pos;
  return next_char(text, begin);
}

void append_char(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

size_t count_chars(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

size_t char_offset(std::string_view text, size_t index) {
  size_t pos = 0;
  while (index > 0 && pos < text.size()) {
    next_char(text, pos);
    --index;
  }
  return pos;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_alpha(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_digit(char32_t c) {
  return is_decimal(c) || in_ranges(kDigits, c);
}

bool is_numeric(char32_t c) {
  const auto kind = category(c);
  return (kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO) || in_ranges(kNumerals, c);
}

bool is_lower(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL || in_ranges(kOtherLower, c);
}
bool is_upper(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU || in_ranges(kOtherUpper, c);
}
bool is_title(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_identifier_start(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return is_alpha(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool is_identifier_part(char32_t c) {
  if (c < 0x80) return is_identifier_start(c) || (c >= '0' && c <= '9');
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return is_identifier_start(c);
  }
}

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) append_upper(out, next_char(text, pos));
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = next_char(text, pos);
    append_lower(out, c, text, begin, pos);
  }
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = next_char(text, pos);
    if (begin == 0) {
      append_title(out, c);
    } else {
      append_lower(out, c, text, begin, pos);
    }
  }
  return out;
}

std::string title_case(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = next_char(text, pos);
    if (in_word) {
      append_lower(out, c, text, begin, pos);
    } else {
      append_title(out, c);
    }
    in_word = is_cased(c);
  }
  return out;
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = next_char(text, pos);
    if (is_upper(c)) {
      append_lower(out, c, text, begin, pos);
    } else if (is_lower(c)) {
      append_upper(out, c);
    } else {
      append_char(out, c);
    }
  }
  return out;
}

std::string_view strip_left(std::string_view text) {
  size_t pos = 0;
  while (pos < text.size()) {
    size_t next = pos;
    if (!is_space(next_char(text, next))) break;
    pos = next;
  }
  return text.substr(pos);
}

std::string_view strip_right(std::string_view text) {
  size_t pos = text.size();
  while (pos > 0) {
    size_t previous = pos;
    if (!is_space(previous_char(text, previous))) break;
    pos = previous;
  }
  return text.substr(0, pos);
}

}  // namespace qwick::jinja
