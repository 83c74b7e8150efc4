#include "base/json.h"

#include <vector>

#include "base/error.h"

namespace qwick {

Json parse_json(std::string_view text, std::string_view source, int max_depth) {
  // The parser takes a NUL for the end, whatever follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    invalid_file("{}: not valid JSON at byte {}: it is a NUL", source, nul + 1);
  std::vector<size_t> n_members;  // of the objects that are open
  const auto bounded = [&](int depth, Json::parse_event_t event, const Json&) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) n_members.push_back(0);
    if (event == Event::object_end) n_members.pop_back();
    if (event == Event::key && ++n_members.back() > kMaxJsonMembers) {
      invalid_file("{}: a JSON object with more than {} members", source, kMaxJsonMembers);
    }
    if (depth >= max_depth && (event == Event::object_start || event == Event::array_start)) {
      invalid_file("{}: JSON nested deeper than {} levels", source, max_depth);
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), bounded);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."
    std::string_view what = error.what();
    if (const auto colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    std::string line(what);
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    invalid_file("{}: not valid JSON at byte {}: {}", source, error.byte, line);
  } catch (const Json::exception& error) {
    invalid_file("{}: not valid JSON: {}", source, error.what());  // numbers out of range
  }
}

}  // namespace qwick
