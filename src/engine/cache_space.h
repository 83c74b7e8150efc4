// Who shares cached prefixes with whom: requests of the same GenerationRequest::cache_space, and nobody else,
// since the time that a prompt takes could tell one client what another has asked.
#pragma once

#include <cstdint>
#include <string_view>

namespace qwick {

// The space of those who go by this name; keyed anew in every process, so that nobody can look for another
// name with the same one. "" is 0, the common space.
uint64_t cache_space(std::string_view name);

}  // namespace qwick
