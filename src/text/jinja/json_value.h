// JSON as values of a template. Apart from value.h, which most files include and few need JSON for.
#pragma once

#include "base/json.h"
#include "text/jinja/value.h"

namespace qwick::jinja {

// Throws TemplateError for what is not UTF-8, nested too deeply, or an integer beyond 64 bits.
Value value_from_json(const Json& json);

}  // namespace qwick::jinja
