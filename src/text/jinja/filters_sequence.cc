// Filters on lists and dicts.
#include <fmt/core.h>

#include <algorithm>

#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

Value length_filter(Runtime&, const Value& input, Args args) {
  bind<0>("length", args, {}, 0);
  return Value::integer(length(input));
}

Value default_filter(Runtime&, const Value& input, Args args) {
  auto [fallback, boolean] = bind<2>("default", args, {"default_value", "boolean"}, 0);
  if (!input.is_undefined() && !(truth(boolean) && !truth(input))) return input;
  return fallback.is_missing() ? Value::string("") : fallback;
}

Value first(Runtime&, const Value& input, Args args) {
  bind<0>("first", args, {}, 0);
  Value item;
  return iterate(input)->next(item) ? item : Value::undefined_hint("No first item, sequence was empty.");
}

// Python's reversed() needs a length; texts have one too.
Values reversed(Runtime& runtime, const Value& input) {
  if (length_or_negative(input) < 0) {
    throw TemplateError(fmt::format("'{}' object is not reversible", type_name(input)));
  }
  Values items = to_values(runtime.budget(), input);
  std::reverse(items.begin(), items.end());
  return items;
}

Value last(Runtime& runtime, const Value& input, Args args) {
  bind<0>("last", args, {}, 0);
  if (input.is_sequence() && !input.items().empty()) return input.items().back();
  const Values items = reversed(runtime, input);
  return items.empty() ? Value::undefined_hint("No last item, sequence was empty.") : items.front();
}

Value reverse(Runtime& runtime, const Value& input, Args args) {
  bind<0>("reverse", args, {}, 0);
  if (input.is_string()) {
    return slice(runtime.budget(), input, Value(), Value(), Value::integer(int64_t{-1}));
  }
  if (length_or_negative(input) < 0) {
    Values items = to_values(runtime.budget(), input);
    std::reverse(items.begin(), items.end());
    return Value::list(std::move(items));
  }
  return Value::object(Type::kIterator, iterate(Value::list(reversed(runtime, input))));
}

Value list(Runtime& runtime, const Value& input, Args args) {
  bind<0>("list", args, {}, 0);
  return Value::list(to_values(runtime.budget(), input));
}

Value join(Runtime& runtime, const Value& input, Args args) {
  auto [separator, attribute] = bind<2>("join", args, {"d", "attribute"}, 0);
  const std::string between = separator.is_missing() ? "" : runtime.text_of(separator);
  const AttributePath path(runtime, is_given(attribute) ? attribute : Value::none());
  const auto items = iterate(input);
  std::string out;
  Value item;
  for (bool is_first = true; items->next(item); is_first = false) {
    const std::string text = runtime.text_of(path.get(runtime, item));
    runtime.budget().bytes(between.size() + text.size());
    if (!is_first) out += between;
    out += text;
  }
  return Value::string(std::move(out));
}

Value items_filter(Runtime& runtime, const Value& input, Args args) {
  bind<0>("items", args, {}, 0);
  Values items;
  if (!input.is_undefined()) {
    if (!input.is(Type::kDict)) throw TemplateError("can only get item pairs from a mapping");
    for (const auto& [key, value] : input.dict().entries) {
      runtime.budget().bytes(sizeof(Value));
      items.push_back(Value::tuple({key, value}));
    }
  }
  return Value::object(Type::kIterator, iterate(Value::list(std::move(items))));
}

// Sorts by keys, which are compared in lists so that several of them count one after another.
void sort_by(Runtime& runtime, std::vector<std::pair<Value, Value>>& keyed, bool descending) {
  const auto below = [&](const auto& a, const auto& b) {
    return descending ? less(runtime.budget(), b.first, a.first) : less(runtime.budget(), a.first, b.first);
  };
  runtime.budget().bytes(keyed.size() * sizeof(keyed[0]));
  std::stable_sort(keyed.begin(), keyed.end(), below);
}

Value dictsort(Runtime& runtime, const Value& input, Args args) {
  auto [case_sensitive, by, reverse_order] =
      bind<3>("dictsort", args, {"case_sensitive", "by", "reverse"}, 0);
  const std::string part = by.is_missing() ? "key" : runtime.text_of(by);
  if (part != "key" && part != "value")
    throw TemplateError("you can only sort by either \"key\" or \"value\"");
  if (input.is_undefined()) throw TemplateError(undefined_message(input));
  if (!input.is(Type::kDict)) throw TemplateError("dictsort needs a mapping");
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, value] : input.dict().entries) {
    const Value& sort_key = part == "key" ? key : value;
    keyed.emplace_back(truth(case_sensitive) ? sort_key : ignore_case(runtime, sort_key),
                       Value::tuple({key, value}));
  }
  sort_by(runtime, keyed, truth(reverse_order));
  Values out;
  for (auto& [key, pair] : keyed) out.push_back(std::move(pair));
  return Value::list(std::move(out));
}

std::vector<AttributePath> sort_paths(Runtime& runtime, const Value& attribute) {
  std::vector<AttributePath> paths;
  if (!attribute.is_string()) {
    paths.emplace_back(runtime, attribute.is_missing() ? Value::none() : attribute);
    return paths;
  }
  const std::string& text = attribute.text();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    paths.emplace_back(runtime, Value::string(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return paths;
}

Value sort(Runtime& runtime, const Value& input, Args args) {
  auto [descending, case_sensitive, attribute] =
      bind<3>("sort", args, {"reverse", "case_sensitive", "attribute"}, 0);
  const std::vector<AttributePath> paths = sort_paths(runtime, attribute);
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& item : to_values(runtime.budget(), input)) {
    Values key;
    for (const AttributePath& path : paths) {
      const Value part = path.get(runtime, item);
      key.push_back(truth(case_sensitive) ? part : ignore_case(runtime, part));
    }
    keyed.emplace_back(Value::list(std::move(key)), std::move(item));
  }
  sort_by(runtime, keyed, truth(descending));
  Values out;
  for (auto& [key, item] : keyed) out.push_back(std::move(item));
  return Value::list(std::move(out));
}

template <bool kMax>
Value extreme(Runtime& runtime, const Value& input, Args args) {
  auto [case_sensitive, attribute] = bind<2>("min", args, {"case_sensitive", "attribute"}, 0);
  const AttributePath path(runtime, is_given(attribute) ? attribute : Value::none());
  Value best;
  Value best_key;
  for (Value& item : to_values(runtime.budget(), input)) {
    Value key = path.get(runtime, item);
    if (!truth(case_sensitive)) key = ignore_case(runtime, key);
    if (!best.is_missing() &&
        !(kMax ? less(runtime.budget(), best_key, key) : less(runtime.budget(), key, best_key))) {
      continue;
    }
    best = std::move(item);
    best_key = std::move(key);
  }
  return best.is_missing() ? Value::undefined_hint("No aggregated item, sequence was empty.") : best;
}

Value sum(Runtime& runtime, const Value& input, Args args) {
  auto [attribute, start] = bind<2>("sum", args, {"attribute", "start"}, 0);
  const AttributePath path(runtime, is_given(attribute) ? attribute : Value::none());
  Value total = start.is_missing() ? Value::integer(int64_t{0}) : start;
  if (total.is_string()) throw TemplateError("sum() can't sum strings");
  for (const Value& item : to_values(runtime.budget(), input)) {
    total = apply_binary(runtime.budget(), BinaryOp::kAdd, std::move(total), path.get(runtime, item));
  }
  return total;
}

Value batch(Runtime& runtime, const Value& input, Args args) {
  auto [size, fill] = bind<2>("batch", args, {"linecount", "fill_with"}, 1);
  const int64_t count = size.is_integral() ? size.as_int() : -1;
  Values rows;
  Values row;
  for (Value& item : to_values(runtime.budget(), input)) {
    if (static_cast<int64_t>(row.size()) == count) {
      rows.push_back(Value::list(std::move(row)));
      row.clear();
    }
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    if (is_given(fill) && static_cast<int64_t>(row.size()) < count) {
      runtime.budget().bytes(sizeof(Value) *
                             std::min(static_cast<size_t>(count), SIZE_MAX / sizeof(Value) / 2));
      row.resize(static_cast<size_t>(count), fill);
    }
    rows.push_back(Value::list(std::move(row)));
  }
  return Value::object(Type::kIterator, iterate(Value::list(std::move(rows))));
}

Value slice_filter(Runtime& runtime, const Value& input, Args args) {
  auto [slices, fill] = bind<2>("slice", args, {"slices", "fill_with"}, 1);
  const int64_t count = checked_integer(slices, "slice");
  if (count == 0) throw TemplateError("integer division or modulo by zero");
  const Values items = to_values(runtime.budget(), input);
  Values rows;
  size_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    runtime.budget().bytes(2 * sizeof(Value));
    const auto size = items.size() / static_cast<size_t>(count);
    const bool extra = i < static_cast<int64_t>(items.size() % static_cast<size_t>(count));
    const size_t end = begin + size + (extra ? 1 : 0);
    Values row(items.begin() + static_cast<std::ptrdiff_t>(begin),
               items.begin() + static_cast<std::ptrdiff_t>(end));
    if (is_given(fill) && !extra) row.push_back(fill);
    rows.push_back(Value::list(std::move(row)));
    begin = end;
  }
  return Value::object(Type::kIterator, iterate(Value::list(std::move(rows))));
}

Value groupby(Runtime& runtime, const Value& input, Args args) {
  auto [attribute, fallback, case_sensitive] =
      bind<3>("groupby", args, {"attribute", "default", "case_sensitive"}, 1);
  const AttributePath path(runtime, attribute);
  const Value otherwise = is_given(fallback) ? fallback : Value();
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& item : to_values(runtime.budget(), input)) {
    Value key = path.get(runtime, item, otherwise);
    keyed.emplace_back(truth(case_sensitive) ? key : ignore_case(runtime, key), std::move(item));
  }
  sort_by(runtime, keyed, false);
  Values groups;
  for (size_t begin = 0; begin < keyed.size();) {
    Values members;
    size_t end = begin;
    while (end < keyed.size() && equal(runtime.budget(), keyed[begin].first, keyed[end].first)) {
      members.push_back(keyed[end++].second);
    }
    Value key = truth(case_sensitive) ? keyed[begin].first : path.get(runtime, members.front(), otherwise);
    groups.push_back(Value::object(Type::kTuple, std::make_shared<GroupObject>(Values{
                                                     std::move(key), Value::list(std::move(members))})));
    begin = std::max(end, begin + 1);
  }
  return Value::list(std::move(groups));
}

Value attr(Runtime& runtime, const Value& input, Args args) {
  auto [name] = bind<1>("attr", args, {"name"}, 1);
  if (!name.is_string()) throw TemplateError("attribute name must be string");
  if (input.is_undefined()) throw TemplateError(undefined_message(input));
  Value found = python_attribute(runtime, input, name.text());
  return found.is_missing() ? Value::undefined_member(input, name) : found;
}

constexpr FilterEntry kFilters[] = {
    {"length", length_filter},
    {"count", length_filter},
    {"default", default_filter},
    {"d", default_filter},
    {"first", first},
    {"last", last},
    {"reverse", reverse},
    {"list", list},
    {"join", join},
    {"items", items_filter},
    {"dictsort", dictsort},
    {"sort", sort},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"sum", sum},
    {"batch", batch},
    {"slice", slice_filter},
    {"groupby", groupby},
    {"attr", attr},
};

}  // namespace

FilterFunction find_sequence_filter(std::string_view name) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

AttributePath::AttributePath(Runtime& runtime, const Value& path) {
  if (path.is_none()) return;
  if (!path.is_string()) {
    parts_.push_back(path);
    return;
  }
  const std::string& text = path.text();
  runtime.budget().bytes(text.size() * sizeof(Value));
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool number =
        !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == std::string::npos;
    parts_.push_back(number ? Value::integer(int64_t{std::stoll(part)}) : Value::string(part));
    begin = end + 1;
  }
}

Value AttributePath::get(Runtime& runtime, Value item, const Value& fallback) const {
  for (const Value& part : parts_) {
    runtime.budget().step();
    item = get_item(runtime, item, part);
    if (item.is_undefined() && is_given(fallback)) item = fallback;
  }
  return item;
}

Value ignore_case(Runtime& runtime, const Value& value) {
  return value.is_string() ? runtime.make_string(to_lower(value.text())) : value;
}

}  // namespace qwick::jinja
