// The keys that let clients in: those given once, and those of a file that can be read again. Owned by
// Server; I/O thread only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qwick {

class ApiKeys {
 public:
  // `file`: one key a line, empty lines and those that start with # don't count; "": none. Throws Error where
  // it can't be read or has no key, which would let everybody in.
  ApiKeys(std::vector<std::string> fixed, std::string file);

  // Reads the file again, and changes nothing if that throws.
  void reload();

  bool needs_key() const { return !fixed_.empty() || !file_.empty(); }
  // In constant time for keys of the length of `given`.
  bool knows(std::string_view given) const;
  size_t size() const { return fixed_.size() + from_file_.size(); }

 private:
  std::vector<std::string> fixed_;
  std::string file_;
  std::vector<std::string> from_file_;
};

}  // namespace qwick
