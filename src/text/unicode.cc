// UTF-8, the table of code point classes, and NFC. See unicode.h; data in unicode_data.h.
#include "text/unicode.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "text/unicode_data.h"

namespace qwick {

using unicode_data::Decomposition;

namespace unicode_detail {

// Table 3-7 of the Unicode Standard: which second bytes a first byte allows.
Char decode_multibyte(std::string_view text, size_t pos) {
  const auto byte_at = [&](size_t i) { return static_cast<unsigned char>(text[pos + i]); };
  const unsigned char lead = byte_at(0);
  uint32_t size = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {kInvalidCodePoint, 1};
  }
  uint32_t value = lead & (0x7Fu >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if (pos + i == text.size()) return {kInvalidCodePoint, i, true};
    const unsigned char byte = byte_at(i);
    if (byte < low || byte > high) return {kInvalidCodePoint, i};
    value = value << 6 | (byte & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {value, size};
}

}  // namespace unicode_detail

void append_utf8(uint32_t code_point, std::string& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

bool is_utf8(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    const Char c = char_at(text, pos);
    if (c.code_point == kInvalidCodePoint) return false;
    pos += c.size;
  }
  return true;
}

size_t append_lossy(std::string_view bytes, bool more_follows, std::string& out) {
  size_t copied = 0;
  size_t pos = 0;
  while (pos < bytes.size()) {
    const Char c = char_at(bytes, pos);
    if (c.code_point == kInvalidCodePoint) {
      out.append(bytes, copied, pos - copied);
      copied = pos;
      if (c.cut && more_follows) return pos;
      append_utf8(0xFFFD, out);
      copied += c.size;
    }
    pos += c.size;
  }
  out.append(bytes, copied, pos - copied);
  return pos;
}

const CharTable& CharTable::get() {
  static const CharTable table;
  return table;
}

// Blocks of one value are shared; the others are stored one by one.
CharTable::CharTable() {
  const std::span runs(unicode_data::kFlagRuns);
  std::array<int, 256> uniform_block;
  uniform_block.fill(-1);
  index_.fill(0);
  size_t run = 0;
  for (uint32_t first = 0; first <= kInvalidCodePoint; first += kBlock) {
    const auto flags_of = [&](uint32_t c) {
      while (run + 1 < runs.size() && runs[run + 1] >> 8 <= c) ++run;
      return c < kInvalidCodePoint ? static_cast<uint8_t>(runs[run] & 0xFF) : uint8_t{0};
    };
    std::array<uint8_t, kBlock> block;
    for (uint32_t i = 0; i < kBlock; ++i) block[i] = flags_of(first + i);
    const bool uniform = std::all_of(block.begin(), block.end(), [&](uint8_t f) { return f == block[0]; });
    int number = uniform ? uniform_block[block[0]] : -1;
    if (number < 0) {
      number = static_cast<int>(blocks_.size() / kBlock);
      blocks_.insert(blocks_.end(), block.begin(), block.end());
      if (uniform) uniform_block[block[0]] = number;
    }
    index_[first / kBlock] = static_cast<uint16_t>(number);
  }
}

namespace {

// Hangul syllables are computed: chapter 3.12 of the Unicode Standard.
constexpr uint32_t kSyllables = 0xAC00;
constexpr uint32_t kLeads = 0x1100;
constexpr uint32_t kVowels = 0x1161;
constexpr uint32_t kTails = 0x11A7;  // one before the first tail: "no tail"
constexpr uint32_t kLeadCount = 19;
constexpr uint32_t kVowelCount = 21;
constexpr uint32_t kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

uint8_t combining_class(uint32_t code_point) {
  const std::span runs(unicode_data::kCombiningRuns);
  const auto next = std::upper_bound(runs.begin(), runs.end(), code_point,
                                     [](uint32_t c, uint32_t r) { return c < r >> 8; });
  return static_cast<uint8_t>(*std::prev(next) & 0xFF);
}

const Decomposition* find_decomposition(std::span<const Decomposition> table, uint32_t code_point) {
  const auto found = std::lower_bound(table.begin(), table.end(), code_point,
                                      [](const Decomposition& d, uint32_t c) { return d.code_point < c; });
  return found != table.end() && found->code_point == code_point ? &*found : nullptr;
}

struct Mark {
  uint32_t code_point;
  uint8_t combining_class;
  uint32_t position = 0;  // among the marks of a run, where sorting needs it
};

// Canonical decomposition, to the end. The tables are four levels deep at most.
void decompose(uint32_t code_point, std::vector<Mark>& out) {
  if (code_point - kSyllables < kSyllableCount) {
    const uint32_t syllable = code_point - kSyllables;
    out.push_back({kLeads + syllable / (kVowelCount * kTailCount), 0});
    out.push_back({kVowels + syllable / kTailCount % kVowelCount, 0});
    if (syllable % kTailCount != 0) out.push_back({kTails + syllable % kTailCount, 0});
    return;
  }
  const Decomposition* found = find_decomposition(unicode_data::kComposites, code_point);
  if (found == nullptr) found = find_decomposition(unicode_data::kOneWay, code_point);
  if (found == nullptr) {
    out.push_back({code_point, combining_class(code_point)});
    return;
  }
  decompose(found->first, out);
  if (found->second != 0) decompose(found->second, out);
}

// The composites by their parts; kComposites itself is ordered by the composite.
const std::vector<Decomposition>& composites_by_parts() {
  static const std::vector<Decomposition> table = [] {
    std::vector<Decomposition> sorted(std::begin(unicode_data::kComposites),
                                      std::end(unicode_data::kComposites));
    std::sort(sorted.begin(), sorted.end(), [](const Decomposition& a, const Decomposition& b) {
      return std::pair(a.first, a.second) < std::pair(b.first, b.second);
    });
    return sorted;
  }();
  return table;
}

// 0 where the two don't compose.
uint32_t compose(uint32_t first, uint32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 && second > kTails &&
      second < kTails + kTailCount) {
    return first + (second - kTails);
  }
  const auto& table = composites_by_parts();
  const auto found = std::lower_bound(
      table.begin(), table.end(), std::pair(first, second),
      [](const Decomposition& d, const auto& parts) { return std::pair(d.first, d.second) < parts; });
  return found != table.end() && found->first == first && found->second == second ? found->code_point : 0;
}

// Marks of the same class keep their order.
void sort_marks(std::vector<Mark>& marks) {
  const auto before = [](const Mark& a, const Mark& b) {
    return std::pair(a.combining_class, a.position) < std::pair(b.combining_class, b.position);
  };
  for (size_t i = 0; i < marks.size(); ++i) marks[i].position = static_cast<uint32_t>(i);
  for (auto begin = marks.begin(); begin != marks.end();) {
    if (begin->combining_class == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, marks.end(), [](const Mark& m) { return m.combining_class == 0; });
    std::sort(begin, end, before);
    begin = end;
  }
}

// run: a character that is safe, if there is one, and the unsafe ones that follow it; well-formed.
void append_nfc_run(std::string_view run, std::vector<Mark>& marks, std::string& out) {
  marks.clear();
  for (size_t pos = 0; pos < run.size();) {
    const Char c = char_at(run, pos);
    decompose(c.code_point, marks);
    pos += c.size;
  }
  sort_marks(marks);

  // A mark joins the last starter unless one of the same or a higher class stands between.
  size_t kept = 0;
  constexpr size_t kNone = SIZE_MAX;
  size_t starter = kNone;
  for (const Mark mark : marks) {
    if (starter != kNone) {
      const bool adjacent = starter + 1 == kept;
      if (adjacent || marks[kept - 1].combining_class < mark.combining_class) {
        if (const uint32_t composite = compose(marks[starter].code_point, mark.code_point); composite != 0) {
          marks[starter].code_point = composite;
          continue;
        }
      }
    }
    if (mark.combining_class == 0) starter = kept;
    marks[kept++] = mark;
  }
  for (size_t i = 0; i < kept; ++i) append_utf8(marks[i].code_point, out);
}

}  // namespace

std::string_view normalize_nfc(std::string_view text, std::string& buffer) {
  const CharTable& table = CharTable::get();
  constexpr size_t kNone = SIZE_MAX;
  std::vector<Mark> marks;
  size_t copied = 0;        // text up to here is in buffer
  size_t previous = kNone;  // where the well-formed character before pos begins
  bool changed = false;
  for (size_t pos = 0; pos < text.size();) {
    const Char c = char_at(text, pos);
    if ((table.flags(c.code_point) & kNfcUnsafe) == 0) {
      previous = c.code_point == kInvalidCodePoint ? kNone : pos;
      pos += c.size;
      continue;
    }
    if (!changed) buffer.clear();
    changed = true;
    const size_t begin = previous == kNone ? pos : previous;
    while (pos < text.size()) {
      const Char next = char_at(text, pos);
      if ((table.flags(next.code_point) & kNfcUnsafe) == 0) break;
      pos += next.size;
    }
    buffer.append(text, copied, begin - copied);
    append_nfc_run(text.substr(begin, pos - begin), marks, buffer);
    copied = pos;
    previous = kNone;
  }
  if (!changed) return text;
  buffer.append(text, copied);
  return buffer;
}

}  // namespace qwick
