// The methods of str.
#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/format.h"
#include "text/jinja/runtime.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

// A string of the same kind as `self`: marked if it is.
Value like(Runtime& runtime, const Value& self, std::string text) {
  return runtime.make_string(std::move(text), self.string_object().markup);
}

void refuse_keywords(const Args& args) {
  if (!args.keyword.empty()) throw TemplateError("the method takes no keyword arguments");
}

const std::string& text_argument(const Value& value) {
  if (!value.is_string()) throw TemplateError(fmt::format("expected str, not {}", type_name(value)));
  return value.text();
}

bool given(const Value& value) {
  return !value.is_missing() && !value.is_none();
}

template <std::string (*kFunction)(std::string_view)>
Value convert(Runtime& runtime, const Value& self, Args args) {
  bind<0>("str method", args, {}, 0);
  return like(runtime, self, kFunction(self.text()));
}

template <Side kSide>
Value strip_method(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [chars] = bind<1>("strip", args, {"chars"}, 0);
  if (given(chars)) text_argument(chars);
  return like(runtime, self, std::string(strip_chars(self.text(), given(chars) ? &chars : nullptr, kSide)));
}

Values split_at_space(Runtime& runtime, const Value& self, int64_t most, bool from_right) {
  Values parts;
  std::string_view rest = from_right ? strip_right(self.text()) : strip_left(self.text());
  while (!rest.empty()) {
    if (most-- == 0) {
      parts.push_back(like(runtime, self, std::string(rest)));
      break;
    }
    size_t pos = from_right ? rest.size() : 0;
    size_t edge = pos;
    while (from_right ? pos > 0 : pos < rest.size()) {
      if (is_space(from_right ? previous_char(rest, pos) : next_char(rest, pos))) break;
      edge = pos;
    }
    parts.push_back(like(runtime, self, std::string(from_right ? rest.substr(edge) : rest.substr(0, edge))));
    rest = from_right ? strip_right(rest.substr(0, edge)) : strip_left(rest.substr(edge));
  }
  return parts;
}

Values split_at(Runtime& runtime, const Value& self, const std::string& separator, int64_t most,
                bool from_right) {
  if (separator.empty()) throw TemplateError("empty separator");
  Values parts;
  std::string_view rest = self.text();
  while (most-- != 0) {
    const size_t found = from_right ? rest.rfind(separator) : rest.find(separator);
    if (found == std::string_view::npos) break;
    const size_t behind = found + separator.size();
    parts.push_back(
        like(runtime, self, std::string(from_right ? rest.substr(behind) : rest.substr(0, found))));
    runtime.budget().bytes(sizeof(Value));
    rest = from_right ? rest.substr(0, found) : rest.substr(behind);
  }
  parts.push_back(like(runtime, self, std::string(rest)));
  return parts;
}

template <bool kFromRight>
Value split_method(Runtime& runtime, const Value& self, Args args) {
  auto [separator, maxsplit] = bind<2>("split", args, {"sep", "maxsplit"}, 0);
  const int64_t most = maxsplit.is_missing() ? -1 : checked_integer(maxsplit, "split");
  Values parts = given(separator) ? split_at(runtime, self, text_argument(separator), most, kFromRight)
                                  : split_at_space(runtime, self, most, kFromRight);
  if (kFromRight) std::reverse(parts.begin(), parts.end());
  return Value::list(std::move(parts));
}

template <bool kFromRight>
Value partition(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [separator] = bind<1>("partition", args, {"sep"}, 1);
  const std::string& by = text_argument(separator);
  if (by.empty()) throw TemplateError("empty separator");
  const std::string& text = self.text();
  const size_t found = kFromRight ? text.rfind(by) : text.find(by);
  const auto part = [&](std::string x) { return like(runtime, self, std::move(x)); };
  if (found == std::string::npos) {
    if (kFromRight) return Value::tuple({part(""), part(""), self});
    return Value::tuple({self, part(""), part("")});
  }
  return Value::tuple({part(text.substr(0, found)), part(by), part(text.substr(found + by.size()))});
}

Value splitlines(Runtime& runtime, const Value& self, Args args) {
  auto [keepends] = bind<1>("splitlines", args, {"keepends"}, 0);
  Values lines;
  for (const std::string_view line : split_lines(self.text(), truth(keepends))) {
    runtime.budget().bytes(sizeof(Value));
    lines.push_back(like(runtime, self, std::string(line)));
  }
  return Value::list(std::move(lines));
}

// The part of the text that optional start and end arguments (in characters) leave.
struct Window {
  std::string_view text;
  size_t offset = 0;     // in bytes
  bool is_valid = true;  // false: start beyond the end, where nothing is found, not even ""
};

Window window(const Value& self, const Value& start, const Value& end) {
  const auto length = static_cast<int64_t>(self.string_object().length);
  const auto bound = [&](const Value& x, int64_t fallback) {
    if (!given(x)) return fallback;
    const int64_t i = checked_integer(x, "str method");
    return i < 0 ? std::max<int64_t>(i + length, 0) : i;
  };
  const int64_t first = bound(start, 0);
  const int64_t last = std::min(bound(end, length), length);
  Window out;
  if (first > last) {
    out.is_valid = false;
    return out;
  }
  const auto byte = [&](int64_t i) {
    const auto index = static_cast<size_t>(i);
    return self.string_object().is_ascii() ? index : char_offset(self.text(), index);
  };
  out.offset = byte(first);
  out.text = std::string_view(self.text()).substr(out.offset, byte(last) - out.offset);
  return out;
}

template <bool kFromRight, bool kMustFind>
Value find(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [sub, start, end] = bind<3>("find", args, {"sub", "start", "end"}, 1);
  const Window in = window(self, start, end);
  runtime.budget().bytes(in.text.size());
  size_t found = std::string_view::npos;
  if (in.is_valid) found = kFromRight ? in.text.rfind(text_argument(sub)) : in.text.find(text_argument(sub));
  if (found != std::string_view::npos) {
    return Value::integer(count_chars(std::string_view(self.text()).substr(0, in.offset + found)));
  }
  if (kMustFind) throw TemplateError("substring not found");
  return Value::integer(int64_t{-1});
}

Value count(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [sub, start, end] = bind<3>("count", args, {"sub", "start", "end"}, 1);
  const std::string& wanted = text_argument(sub);
  const Window in = window(self, start, end);
  if (!in.is_valid) return Value::integer(int64_t{0});
  runtime.budget().bytes(in.text.size());
  if (wanted.empty()) return Value::integer(count_chars(in.text) + 1);
  int64_t times = 0;
  for (size_t pos = in.text.find(wanted); pos != std::string_view::npos;
       pos = in.text.find(wanted, pos + wanted.size())) {
    ++times;
  }
  return Value::integer(times);
}

template <bool kAtEnd>
Value has_affix(Runtime&, const Value& self, Args args) {
  refuse_keywords(args);
  auto [affix, start, end] = bind<3>(kAtEnd ? "endswith" : "startswith", args, {"affix", "start", "end"}, 1);
  const Window in = window(self, start, end);
  const auto matches = [&](const Value& x) {
    const std::string& text = text_argument(x);
    return in.is_valid && (kAtEnd ? in.text.ends_with(text) : in.text.starts_with(text));
  };
  if (affix.is(Type::kTuple)) {
    return Value::boolean(std::any_of(affix.items().begin(), affix.items().end(), matches));
  }
  return Value::boolean(matches(affix));
}

template <bool kAtEnd>
Value remove_affix(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [affix] = bind<1>("removeprefix", args, {"affix"}, 1);
  const std::string& text = self.text();
  const std::string& part = text_argument(affix);
  if (!(kAtEnd ? text.ends_with(part) : text.starts_with(part))) return self;
  return like(runtime, self, kAtEnd ? text.substr(0, text.size() - part.size()) : text.substr(part.size()));
}

Value replace(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [old, with, times] = bind<3>("replace", args, {"old", "new", "count"}, 2);
  const int64_t most = times.is_missing() ? -1 : checked_integer(times, "replace");
  return like(runtime, self,
              replace_text(runtime.budget(), self.text(), text_argument(old), text_argument(with), most));
}

Value join(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [items] = bind<1>("join", args, {"iterable"}, 1);
  std::string out;
  bool first = true;
  for (const Value& item : to_values(runtime.budget(), items)) {
    if (!item.is_string()) {
      throw TemplateError(fmt::format("sequence item: expected str instance, {} found", type_name(item)));
    }
    runtime.budget().bytes(self.text().size() + item.text().size());
    if (!first) out += self.text();
    first = false;
    out += item.text();
  }
  return like(runtime, self, std::move(out));
}

template <Align kAlign>
Value pad(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [width, fill] = bind<2>("center", args, {"width", "fillchar"}, 1);
  if (!fill.is_missing() && (text_argument(fill).empty() || fill.string_object().length != 1)) {
    throw TemplateError("the fill character must be exactly one character long");
  }
  const std::string_view with = fill.is_missing() ? std::string_view(" ") : std::string_view(fill.text());
  return like(runtime, self,
              pad_text(runtime.budget(), self.text(), checked_integer(width, "center"), with, kAlign));
}

Value zfill(Runtime& runtime, const Value& self, Args args) {
  refuse_keywords(args);
  auto [width] = bind<1>("zfill", args, {"width"}, 1);
  std::string_view text = self.text();
  std::string sign;
  int64_t total = checked_integer(width, "zfill");
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front();
    text.remove_prefix(1);
    if (total > 0) --total;
  }
  return like(runtime, self, sign + pad_text(runtime.budget(), text, total, "0", Align::kRight));
}

// is...(): at least one character, and all of them of the class.
template <bool (*kClass)(char32_t)>
Value all_are(Runtime&, const Value& self, Args args) {
  bind<0>("str method", args, {}, 0);
  const std::string& text = self.text();
  bool all = !text.empty();
  for (size_t pos = 0; pos < text.size() && all;) all = kClass(next_char(text, pos));
  return Value::boolean(all);
}

bool is_alnum(char32_t c) {
  return is_alpha(c) || is_digit(c) || is_numeric(c);
}
bool is_ascii(char32_t c) {
  return c < 0x80;
}

template <bool (*kFunction)(std::string_view)>
Value check(Runtime&, const Value& self, Args args) {
  bind<0>("str method", args, {}, 0);
  return Value::boolean(kFunction(self.text()));
}

bool title_cased(std::string_view text) {
  bool any = false;
  bool in_word = false;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = next_char(text, pos);
    if (is_upper(c) || is_title(c)) {
      if (in_word) return false;
      in_word = any = true;
    } else if (is_lower(c)) {
      if (!in_word) return false;
      any = true;
    } else {
      in_word = false;
    }
  }
  return any;
}

bool ascii_only(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_ascii(static_cast<unsigned char>(c)); });
}

bool printable_only(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    if (!is_printable(next_char(text, pos))) return false;
  }
  return true;
}

bool identifier(std::string_view text) {
  if (text.empty()) return false;
  size_t pos = 0;
  if (!is_identifier_start(next_char(text, pos))) return false;
  while (pos < text.size()) {
    if (!is_identifier_part(next_char(text, pos))) return false;
  }
  return true;
}

}  // namespace

bool is_lower_text(std::string_view text) {
  bool any = false;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = next_char(text, pos);
    if (is_upper(c) || is_title(c)) return false;
    any = any || is_lower(c);
  }
  return any;
}

bool is_upper_text(std::string_view text) {
  bool any = false;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = next_char(text, pos);
    if (is_lower(c) || is_title(c)) return false;
    any = any || is_upper(c);
  }
  return any;
}

MethodFunction find_string_method(std::string_view name) {
  static const std::unordered_map<std::string_view, MethodFunction> methods = {
      {"strip", strip_method<Side::kBoth>},
      {"lstrip", strip_method<Side::kLeft>},
      {"rstrip", strip_method<Side::kRight>},
      {"split", split_method<false>},
      {"rsplit", split_method<true>},
      {"splitlines", splitlines},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"startswith", has_affix<false>},
      {"endswith", has_affix<true>},
      {"removeprefix", remove_affix<false>},
      {"removesuffix", remove_affix<true>},
      {"replace", replace},
      {"join", join},
      {"find", find<false, false>},
      {"rfind", find<true, false>},
      {"index", find<false, true>},
      {"rindex", find<true, true>},
      {"count", count},
      {"upper", convert<to_upper>},
      {"lower", convert<to_lower>},
      {"title", convert<title_case>},
      {"capitalize", convert<capitalize>},
      {"swapcase", convert<swap_case>},
      {"center", pad<Align::kCenter>},
      {"ljust", pad<Align::kLeft>},
      {"rjust", pad<Align::kRight>},
      {"zfill", zfill},
      {"format", format_braces},
      {"isspace", all_are<is_space>},
      {"isalpha", all_are<is_alpha>},
      {"isalnum", all_are<is_alnum>},
      {"isdigit", all_are<is_digit>},
      {"isdecimal", all_are<is_decimal>},
      {"isnumeric", all_are<is_numeric>},
      {"isupper", check<is_upper_text>},
      {"islower", check<is_lower_text>},
      {"istitle", check<title_cased>},
      {"isascii", check<ascii_only>},
      {"isprintable", check<printable_only>},
      {"isidentifier", check<identifier>},
  };
  const auto it = methods.find(name);
  return it == methods.end() ? nullptr : it->second;
}

bool is_unsupported_method(std::string_view name) {
  constexpr std::string_view kNames[] = {"encode",           "translate",  "maketrans", "format_map",
                                         "casefold",         "expandtabs", "fromkeys",  "to_bytes",
                                         "from_bytes",       "bit_length", "bit_count", "conjugate",
                                         "as_integer_ratio", "fromhex",    "hex"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace qwick::jinja
