// The two JSON texts of safetensors, read as a stream of events: nothing is built that the text does
// not need, duplicate keys are seen, and no nesting can hurt. Called by safetensors.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

// One tensor as a header describes it, unchecked beyond its types.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> data_offsets;  // begin and end in the data section
};

// The header's tensors in the order of the text. Throws Error kInvalidFile: not JSON, a missing,
// unknown or repeated field, a repeated name. `file` is for messages.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, std::string_view file);

// weight_map of a model.safetensors.index.json: tensor name -> file name.
std::map<std::string, std::string> parse_safetensors_index(std::string_view text, std::string_view file);

}  // namespace qwick
