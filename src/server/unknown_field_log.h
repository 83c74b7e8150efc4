// Tells the operator of fields that clients send and the server does not know. Owned by Server; I/O thread
// only.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/log.h"

namespace qwick {

// Field names that requests had and nobody knows: each is logged once, and not without end.
class UnknownFieldLog {
 public:
  void note(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (seen_.size() >= kMaxNames || !seen_.insert(name.substr(0, kMaxNameBytes)).second) continue;
      log::info("a request has the unknown field {}; it is ignored",
                printable(name.substr(0, kMaxNameBytes)));
    }
  }

 private:
  static constexpr size_t kMaxNames = 256;
  static constexpr size_t kMaxNameBytes = 64;

  static std::string printable(std::string name) {
    for (char& c : name) {
      if (c < 0x20 || c > 0x7E) c = '?';
    }
    return name;
  }

  std::set<std::string> seen_;
};

}  // namespace qwick
