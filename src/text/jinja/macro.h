// A macro or the body of a call block, as a value. Made by the evaluator.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/runtime.h"

namespace qwick::jinja {

class MacroObject final : public NativeObject {
 public:
  // The frame lives as long as the render call.
  MacroObject(const Function& function, Frame& closure) : function_(function), closure_(closure) {
    closure.captured = true;
  }
  Value call(Runtime& runtime, Args args) override;
  Value attribute(Runtime& runtime, const Value& self, std::string_view name) override;
  std::string repr() const override;
  const char* type_name() const override { return "Macro"; }

 private:
  const Function& function_;
  Frame& closure_;
};

}  // namespace qwick::jinja
