// Filters that take other filters, tests and attributes: map, select and their kin. They work item by
// item, when the result is read, as Jinja's generators do.
#include <fmt/core.h>

#include <algorithm>

#include "text/jinja/filters.h"

namespace qwick::jinja {
namespace {

Value map_attribute(Runtime& runtime, const Value& input, Args args) {
  auto [attribute, fallback] = bind<2>("map", args, {"attribute", "default"}, 1);
  const AttributePath path(runtime, attribute);
  const Value otherwise = is_given(fallback) ? fallback : Value();
  auto source = iterate(input);
  return make_generator(input, [&runtime, path, otherwise, source](Value& out) {
    Value item;
    if (!source->next(item)) return false;
    out = path.get(runtime, std::move(item), otherwise);
    return true;
  });
}

Value map(Runtime& runtime, const Value& input, Args args) {
  if (!truth(input)) return make_generator(input, [](Value&) { return false; });
  const bool by_attribute =
      args.positional.empty() && std::any_of(args.keyword.begin(), args.keyword.end(),
                                             [](const auto& x) { return x.first == "attribute"; });
  if (by_attribute) return map_attribute(runtime, input, std::move(args));
  if (args.positional.empty()) throw TemplateError("map requires a filter argument");
  const std::string name = args.positional[0].is_string() ? args.positional[0].text() : "";
  const FilterFunction filter = find_filter(name);
  args.positional.erase(args.positional.begin());
  auto source = iterate(input);
  return make_generator(input, [&runtime, filter, name, args, source](Value& out) {
    Value item;
    if (!source->next(item)) return false;
    if (filter == nullptr) throw TemplateError(fmt::format("no filter named '{}'", name));
    out = filter(runtime, item, args);
    return true;
  });
}

// select, reject, selectattr, rejectattr: the items for which a test of them, or of their attribute, holds.
template <bool kWanted, bool kAttribute>
Value select(Runtime& runtime, const Value& input, Args args) {
  if (!truth(input)) return make_generator(input, [](Value&) { return false; });
  Value attribute = Value::none();
  if (kAttribute) {
    if (args.positional.empty()) throw TemplateError("missing parameter for attribute name");
    attribute = std::move(args.positional.front());
    args.positional.erase(args.positional.begin());
  }
  const AttributePath path(runtime, attribute);
  const bool tested = !args.positional.empty();
  const std::string name = tested && args.positional[0].is_string() ? args.positional[0].text() : "";
  const TestFunction test = tested ? find_test(name) : nullptr;
  if (tested) args.positional.erase(args.positional.begin());
  auto source = iterate(input);
  return make_generator(input, [&runtime, path, tested, test, name, args, source](Value& out) {
    while (source->next(out)) {
      if (tested && test == nullptr) throw TemplateError(fmt::format("no test named '{}'", name));
      runtime.budget().step();
      const Value value = path.get(runtime, out);
      if ((tested ? test(runtime, value, args) : truth(value)) == kWanted) return true;
    }
    return false;
  });
}

Value unique(Runtime& runtime, const Value& input, Args args) {
  auto [case_sensitive, attribute] = bind<2>("unique", args, {"case_sensitive", "attribute"}, 0);
  const AttributePath path(runtime, is_given(attribute) ? attribute : Value::none());
  const bool exact = truth(case_sensitive);
  auto source = iterate(input);
  auto seen = std::make_shared<DictObject>();
  return make_generator(input, [&runtime, path, exact, source, seen](Value& out) {
    while (source->next(out)) {
      runtime.budget().bytes(sizeof(Value));
      Value key = path.get(runtime, out);
      if (!exact) key = ignore_case(runtime, key);
      if (seen->find(key) != nullptr) continue;
      seen->set(std::move(key), Value::none());
      return true;
    }
    return false;
  });
}

constexpr FilterEntry kFilters[] = {
    {"map", map},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
    {"unique", unique},
};

}  // namespace

FilterFunction find_select_filter(std::string_view name) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

FilterFunction find_filter(std::string_view name) {
  if (const FilterFunction found = find_text_filter(name); found != nullptr) return found;
  if (const FilterFunction found = find_sequence_filter(name); found != nullptr) return found;
  return find_select_filter(name);
}

bool is_unsupported_filter(std::string_view name) {
  constexpr std::string_view kNames[] = {"filesizeformat", "pprint",   "random", "striptags",
                                         "urlize",         "wordwrap", "xmlattr"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace qwick::jinja
