// Counts how deep a render call is nested, for as long as it lives; throws beyond the bound.
#pragma once

#include "text/jinja/runtime.h"

namespace qwick::jinja {

class Runtime::Depth {
 public:
  explicit Depth(Runtime& runtime) : runtime_(runtime) {
    if (runtime.depth_ >= kMaxDepth) throw TemplateError("the template nests too deeply");
    ++runtime.depth_;
  }
  ~Depth() { --runtime_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  static constexpr int kMaxDepth = 1000;
  Runtime& runtime_;
};

}  // namespace qwick::jinja
