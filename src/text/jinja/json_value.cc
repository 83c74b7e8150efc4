// JSON as values of a template.
#include "text/jinja/json_value.h"

#include "text/jinja/unicode.h"

namespace qwick::jinja {
namespace {

Value json_value(const Json& json, int depth) {
  if (depth > kMaxValueDepth) throw TemplateError("data nested too deeply");
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > INT64_MAX) throw TemplateError("integers beyond 64 bits are not supported");
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      if (!is_valid_utf8(text)) throw TemplateError("text that is not UTF-8");
      return Value::string(text);
    }
    case Json::value_t::array: {
      Values items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(json_value(item, depth + 1));
      return Value::list(std::move(items));
    }
    case Json::value_t::object: {
      auto dict = std::make_shared<DictObject>();
      dict->entries.reserve(json.size());
      for (const auto& [key, item] : json.items()) {
        if (!is_valid_utf8(key)) throw TemplateError("text that is not UTF-8");
        dict->set(Value::string(key), json_value(item, depth + 1));
      }
      return Value::dict(std::move(dict));
    }
    default:
      return Value::none();
  }
}

}  // namespace

Value value_from_json(const Json& json) {
  return json_value(json, 0);
}

}  // namespace qwick::jinja
