// Fuzz target: a chat template and the JSON object of its variables, with a NUL byte between them.
// Whatever they are, the outcome is a text or an Error, within small bounds of steps and memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "text/jinja/json_value.h"
#include "text/jinja/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qwick;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  const std::string_view source = input.substr(0, cut);
  const std::string_view json =
      cut == std::string_view::npos ? std::string_view("{}") : input.substr(cut + 1);
  try {
    const Json values = parse_json(json, "variables");
    jinja::Variables variables;
    if (values.is_object()) {
      for (const auto& [name, value] : values.items())
        variables.emplace_back(name, jinja::value_from_json(value));
    }
    jinja::Limits limits;
    limits.steps = 100'000;
    limits.bytes = 8 << 20;
    limits.output = 1 << 20;
    jinja::Template(source, "fuzz").render(variables, limits);
  } catch (const Error&) {
    // A template or variables that are refused.
  } catch (const jinja::TemplateError&) {
    // Variables that are refused.
  }
  return 0;
}
