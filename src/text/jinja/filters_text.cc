// Filters on text and numbers.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "text/jinja/filters.h"
#include "text/jinja/format.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

Value like(Runtime& runtime, const Value& text, std::string out) {
  return runtime.make_string(std::move(out), text.string_object().markup);
}

const std::string& need_text(const Value& value) {
  if (value.is_undefined()) throw TemplateError(undefined_message(value));
  if (!value.is_string()) throw TemplateError(fmt::format("expected str, not {}", type_name(value)));
  return value.text();
}

template <std::string (*kFunction)(std::string_view)>
Value convert(Runtime& runtime, const Value& input, Args args) {
  bind<0>("filter", args, {}, 0);
  const Value text = soft_string(runtime, input);
  return like(runtime, text, kFunction(text.text()));
}

// Words begin behind white space, hyphens and opening brackets.
std::string title_filter(std::string_view text) {
  std::string out;
  size_t word = 0;
  const auto flush = [&](size_t end) {
    const std::string_view part = text.substr(word, end - word);
    if (part.empty()) return;
    size_t first = 0;
    next_char(part, first);
    out += to_upper(part.substr(0, first)) + to_lower(part.substr(first));
  };
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = next_char(text, pos);
    if (!is_space(c) &&
        (c >= 0x80 || std::string_view("-({[<").find(static_cast<char>(c)) == std::string_view::npos)) {
      continue;
    }
    flush(begin);
    out += text.substr(begin, pos - begin);
    word = pos;
  }
  flush(text.size());
  return out;
}

Value trim(Runtime& runtime, const Value& input, Args args) {
  auto [chars] = bind<1>("trim", args, {"chars"}, 0);
  const Value text = soft_string(runtime, input);
  if (is_given(chars)) need_text(chars);
  return like(runtime, text,
              std::string(strip_chars(text.text(), is_given(chars) ? &chars : nullptr, Side::kBoth)));
}

Value replace(Runtime& runtime, const Value& input, Args args) {
  auto [old, with, count] = bind<3>("replace", args, {"old", "new", "count"}, 2);
  const int64_t most = is_given(count) ? checked_integer(count, "replace") : -1;
  return Value::string(replace_text(runtime.budget(), runtime.text_of(input), runtime.text_of(old),
                                    runtime.text_of(with), most));
}

Value string_filter(Runtime& runtime, const Value& input, Args args) {
  bind<0>("string", args, {}, 0);
  return soft_string(runtime, input);
}

Value safe(Runtime& runtime, const Value& input, Args args) {
  bind<0>("safe", args, {}, 0);
  return runtime.make_string(runtime.text_of(input), true);
}

Value escape(Runtime& runtime, const Value& input, Args args) {
  bind<0>("escape", args, {}, 0);
  if (input.is_string() && input.string_object().markup) return input;
  return runtime.make_string(escape_html(runtime.text_of(input)), true);
}

Value force_escape(Runtime& runtime, const Value& input, Args args) {
  bind<0>("forceescape", args, {}, 0);
  return runtime.make_string(escape_html(runtime.text_of(input)), true);
}

Value center(Runtime& runtime, const Value& input, Args args) {
  auto [width] = bind<1>("center", args, {"width"}, 0);
  const Value text = soft_string(runtime, input);
  const int64_t columns = width.is_missing() ? 80 : checked_integer(width, "center");
  return like(runtime, text, pad_text(runtime.budget(), text.text(), columns, " ", Align::kCenter));
}

Value indent(Runtime& runtime, const Value& input, Args args) {
  auto [width, first, blank] = bind<3>("indent", args, {"width", "first", "blank"}, 0);
  std::string indention(4, ' ');
  if (width.is_string()) {
    indention = width.text();
  } else if (!width.is_missing()) {
    const int64_t columns = std::max<int64_t>(checked_integer(width, "indent"), 0);
    runtime.budget().bytes(static_cast<size_t>(columns));
    indention.assign(static_cast<size_t>(columns), ' ');
  }
  const std::string text = need_text(input) + "\n";
  std::string out = truth(first) ? indention : "";
  bool is_first = true;
  for (const std::string_view line : split_lines(text, false)) {
    runtime.budget().bytes(indention.size() + line.size());
    if (!is_first) {
      out += '\n';
      if (truth(blank) || !line.empty()) out += indention;
    }
    is_first = false;
    out += line;
  }
  return Value::string(std::move(out), input.string_object().markup);
}

Value truncate(Runtime& runtime, const Value& input, Args args) {
  auto [length, killwords, end, leeway] =
      bind<4>("truncate", args, {"length", "killwords", "end", "leeway"}, 0);
  const int64_t most = length.is_missing() ? 255 : checked_integer(length, "truncate");
  const int64_t slack = is_given(leeway) ? checked_integer(leeway, "truncate") : 5;
  const std::string mark = end.is_missing() ? "..." : need_text(end);
  const auto mark_length = static_cast<int64_t>(count_chars(mark));
  if (most < mark_length) throw TemplateError("truncate: the length is below that of the end mark");
  if (slack < 0) throw TemplateError("truncate: negative leeway");
  if (length_or_negative(input) >= 0 && length_or_negative(input) - slack <= most) return input;
  const std::string& text = need_text(input);
  std::string out = text.substr(0, char_offset(text, static_cast<size_t>(most - mark_length)));
  if (!truth(killwords)) out = out.substr(0, out.rfind(' '));
  return runtime.make_string(out + mark);
}

Value wordcount(Runtime& runtime, const Value& input, Args args) {
  bind<0>("wordcount", args, {}, 0);
  const std::string text = runtime.text_of(input);
  int64_t words = 0;
  bool in_word = false;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = next_char(text, pos);
    const bool word = c == '_' || is_alpha(c) || is_digit(c) || is_numeric(c);
    words += word && !in_word ? 1 : 0;
    in_word = word;
  }
  return Value::integer(words);
}

std::string quote_url(std::string_view text, bool for_query) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("_.-~").find(c) != std::string_view::npos);
    if (plain || (c == '/' && !for_query)) {
      out += c;
    } else if (c == ' ' && for_query) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

Value urlencode(Runtime& runtime, const Value& input, Args args) {
  bind<0>("urlencode", args, {}, 0);
  if (input.is_string() || !is_iterable(input))
    return runtime.make_string(quote_url(runtime.text_of(input), false));
  std::string out;
  const auto add = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    out += quote_url(runtime.text_of(key), true) + "=" + quote_url(runtime.text_of(value), true);
  };
  if (input.is(Type::kDict)) {
    for (const auto& [key, value] : input.dict().entries) add(key, value);
  } else {
    for (const Value& pair : to_values(runtime.budget(), input)) {
      const Values parts = to_values(runtime.budget(), pair);
      if (parts.size() != 2) throw TemplateError("urlencode: items must be pairs");
      add(parts[0], parts[1]);
    }
  }
  return runtime.make_string(std::move(out));
}

Value format_filter(Runtime& runtime, const Value& input, Args args) {
  if (!args.positional.empty() && !args.keyword.empty()) {
    throw TemplateError("can't handle positional and keyword arguments at the same time");
  }
  Value values;
  if (args.keyword.empty()) {
    values = Value::tuple(std::move(args.positional));
  } else {
    auto dict = std::make_shared<DictObject>();
    for (auto& [name, value] : args.keyword) dict->set(Value::string(name), std::move(value));
    values = Value::dict(std::move(dict));
  }
  return format_percent(runtime.budget(), soft_string(runtime, input), values);
}

Value tojson(Runtime& runtime, const Value& input, Args args) {
  return Value::string(to_json(runtime, input, std::move(args)));
}

Value integer_of(double x) {
  if (std::isnan(x)) throw TemplateError("cannot convert float NaN to integer");
  if (!(std::abs(x) < 0x1p63)) throw TemplateError("integer beyond 64 bits");
  return Value::integer(static_cast<int64_t>(x));
}

Value int_filter(Runtime&, const Value& input, Args args) {
  auto [fallback, base] = bind<2>("int", args, {"default", "base"}, 0);
  Value otherwise = fallback.is_missing() ? Value::integer(int64_t{0}) : fallback;
  if (input.is_undefined()) throw TemplateError(undefined_message(input));
  if (input.is_integral()) return Value::integer(input.as_int());
  if (input.is(Type::kFloat))
    return std::isnan(input.as_double()) ? otherwise : integer_of(input.as_double());
  if (!input.is_string()) return otherwise;
  int64_t whole = 0;
  if (parse_integer(input.text(), base.is_missing() ? 10 : static_cast<int>(checked_integer(base, "int")),
                    whole)) {
    return Value::integer(whole);
  }
  double real = 0;
  if (!parse_double(input.text(), real) || !std::isfinite(real)) return otherwise;
  return integer_of(real);
}

Value float_filter(Runtime&, const Value& input, Args args) {
  auto [fallback] = bind<1>("float", args, {"default"}, 0);
  if (input.is_undefined()) throw TemplateError(undefined_message(input));
  if (input.is_number()) return Value::real(input.as_double());
  double real = 0;
  if (input.is_string() && parse_double(input.text(), real)) return Value::real(real);
  return fallback.is_missing() ? Value::real(0) : fallback;
}

Value abs_filter(Runtime&, const Value& input, Args args) {
  bind<0>("abs", args, {}, 0);
  if (input.is(Type::kFloat)) return Value::real(std::abs(input.as_double()));
  const int64_t x = checked_integer(input, "abs");
  return x < 0 ? negate(input) : Value::integer(x);
}

// Python's round(): the decimal result nearest to the exact value, ties to even.
double round_to(double x, int64_t precision) {
  if (!std::isfinite(x) || precision > 300) return x;
  if (precision < -308) return std::copysign(0.0, x);
  if (precision >= 0) {
    const std::string text = fmt::format("{:.{}f}", x, precision);
    return std::strtod(text.c_str(), nullptr);
  }
  const long double unit = std::pow(10.0L, static_cast<long double>(-precision));
  return static_cast<double>(std::nearbyint(static_cast<long double>(x) / unit) * unit);
}

int64_t round_integer(int64_t x, int64_t precision) {
  if (precision >= 0) return x;
  if (precision < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = 0; i < -precision; ++i) unit *= 10;
  const int64_t rest = ((x % unit) + unit) % unit;
  const int64_t down = x - rest;
  const bool up = rest > unit / 2 || (rest == unit / 2 && (down / unit) % 2 != 0);
  int64_t out = down;
  if (up && __builtin_add_overflow(down, unit, &out)) throw TemplateError("integer beyond 64 bits");
  return out;
}

Value round_filter(Runtime& runtime, const Value& input, Args args) {
  auto [precision, method] = bind<2>("round", args, {"precision", "method"}, 0);
  const std::string how = method.is_missing() ? "common" : runtime.text_of(method);
  if (how != "common" && how != "ceil" && how != "floor")
    throw TemplateError("method must be common, ceil or floor");
  if (input.is_undefined() || !input.is_number()) {
    throw TemplateError(fmt::format("type {} can't be rounded", type_name(input)));
  }
  if (how == "common" && precision.is_none()) {
    return input.is_integral() ? Value::integer(input.as_int())
                               : integer_of(std::nearbyint(input.as_double()));
  }
  const int64_t digits = precision.is_missing() ? 0 : checked_integer(precision, "round");
  if (how == "common") {
    return input.is_integral() ? Value::integer(round_integer(input.as_int(), digits))
                               : Value::real(round_to(input.as_double(), digits));
  }
  const Value ten = Value::integer(int64_t{10});
  const Value scale = apply_binary(runtime.budget(), BinaryOp::kPow, ten, Value::integer(digits));
  const Value scaled = apply_binary(runtime.budget(), BinaryOp::kMul, input, scale);
  const double edge = how == "ceil" ? std::ceil(scaled.as_double()) : std::floor(scaled.as_double());
  return apply_binary(runtime.budget(), BinaryOp::kDiv, scaled.is_integral() ? scaled : integer_of(edge),
                      scale);
}

constexpr FilterEntry kFilters[] = {
    {"upper", convert<to_upper>},
    {"lower", convert<to_lower>},
    {"title", convert<title_filter>},
    {"capitalize", convert<capitalize>},
    {"trim", trim},
    {"replace", replace},
    {"string", string_filter},
    {"safe", safe},
    {"escape", escape},
    {"e", escape},
    {"forceescape", force_escape},
    {"center", center},
    {"indent", indent},
    {"truncate", truncate},
    {"wordcount", wordcount},
    {"urlencode", urlencode},
    {"format", format_filter},
    {"tojson", tojson},
    {"int", int_filter},
    {"float", float_filter},
    {"abs", abs_filter},
    {"round", round_filter},
};

}  // namespace

FilterFunction find_text_filter(std::string_view name) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

}  // namespace qwick::jinja
