// The chat templates that come with qwick, by name. Used by ChatTemplate::builtin.
#pragma once

#include <span>
#include <string_view>

namespace qwick {

struct BuiltinTemplate {
  std::string_view name;
  std::string_view source;
};

std::span<const BuiltinTemplate> builtin_templates();

}  // namespace qwick
