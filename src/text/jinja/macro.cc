// Calls of macros: arguments to parameters, as Jinja's Macro does it.
#include "text/jinja/macro.h"

#include <algorithm>

#include "text/jinja/operators.h"

namespace qwick::jinja {
namespace {

// Takes a keyword argument out; missing where there is none.
Value take(Args& args, std::string_view name) {
  const auto it =
      std::find_if(args.keyword.begin(), args.keyword.end(), [&](const auto& x) { return x.first == name; });
  if (it == args.keyword.end()) return {};
  Value value = std::move(it->second);
  args.keyword.erase(it);
  return value;
}

}  // namespace

Value MacroObject::call(Runtime& runtime, Args args) {
  const size_t count = function_.parameters.size();
  const size_t given = std::min(args.positional.size(), count);
  Values arguments(args.positional.begin(), args.positional.begin() + static_cast<std::ptrdiff_t>(given));
  bool found_caller = given == count && function_.explicit_caller;
  for (size_t i = given; i < count; ++i) {
    const std::string& name = function_.parameters[i].name;
    arguments.push_back(take(args, name));
    found_caller = found_caller || name == "caller";
  }
  Value caller;
  if (function_.caller_slot >= 0 && !found_caller) {
    caller = take(args, "caller");
    if (caller.is_missing() || caller.is_none()) caller = Value::undefined_hint("No caller defined");
  }
  Value kwargs;
  if (function_.kwargs_slot >= 0) {
    auto dict = std::make_shared<DictObject>();
    for (auto& [name, value] : args.keyword) dict->set(Value::string(name), std::move(value));
    kwargs = Value::dict(std::move(dict));
  } else if (!args.keyword.empty()) {
    throw TemplateError("macro '" + function_.name + "' takes no keyword argument '" +
                        args.keyword.front().first + "'");
  }
  Value varargs;
  if (function_.varargs_slot >= 0) {
    varargs = Value::tuple(
        Values(args.positional.begin() + static_cast<std::ptrdiff_t>(given), args.positional.end()));
  } else if (args.positional.size() > count) {
    throw TemplateError("macro '" + function_.name + "' takes not more than " + std::to_string(count) +
                        " argument(s)");
  }
  return runtime.make_string(runtime.run_function(function_, closure_, std::move(arguments),
                                                  std::move(caller), std::move(kwargs), std::move(varargs)));
}

Value MacroObject::attribute(Runtime&, const Value&, std::string_view name) {
  if (name == "name") return function_.name.empty() ? Value::none() : Value::string(function_.name);
  if (name == "catch_kwargs") return Value::boolean(function_.kwargs_slot >= 0);
  if (name == "catch_varargs") return Value::boolean(function_.varargs_slot >= 0);
  if (name == "caller") return Value::boolean(function_.caller_slot >= 0);
  if (name != "arguments") return {};
  Values names;
  for (const Function::Parameter& parameter : function_.parameters)
    names.push_back(Value::string(parameter.name));
  return Value::tuple(std::move(names));
}

std::string MacroObject::repr() const {
  return function_.name.empty() ? "<Macro anonymous>" : "<Macro " + repr_string(function_.name) + ">";
}

}  // namespace qwick::jinja
