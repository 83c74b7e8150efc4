// The special variable `loop`, and the iterator behind `for ... if`. Made by the evaluator.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/jinja/runtime.h"

namespace qwick::jinja {

class LoopObject final : public NativeObject {
 public:
  LoopObject(const Value& iterable, std::shared_ptr<IteratorObject> iterator, const ForStmt& stmt,
             Frame& closure, int64_t depth0);
  bool advance(Value& item);  // to the next item; false at the end
  void finish();              // the loop is over, whoever still holds this

  Value call(Runtime& runtime, Args args) override;
  Value attribute(Runtime& runtime, const Value& self, std::string_view name) override;
  std::string repr() const override { return "<LoopContext>"; }
  const char* type_name() const override { return "LoopContext"; }
  Value cycle(const Args& args) const;
  bool changed(Runtime& runtime, Args args);

 private:
  int64_t length(Runtime& runtime);
  const Value& peek();

  Value iterable_;
  std::shared_ptr<IteratorObject> iterator_;
  const ForStmt& stmt_;
  Frame& closure_;
  int64_t depth0_;
  int64_t index0_ = -1;
  int64_t length_ = -1;
  Value before_;
  Value current_;
  Value after_;  // missing: not looked at yet, or there is none
  Value last_changed_;
  bool finished_ = false;
};

// The items for which the loop's test holds; looks ahead no further than asked.
class LoopFilter final : public IteratorObject {
 public:
  LoopFilter(Runtime& runtime, const ForStmt& stmt, Frame& frame, std::shared_ptr<IteratorObject> source)
      : IteratorObject(source->depth + 1),
        runtime_(runtime),
        stmt_(stmt),
        frame_(frame),
        source_(std::move(source)) {}
  bool next(Value& out) override;

 private:
  Runtime& runtime_;
  const ForStmt& stmt_;
  Frame& frame_;
  std::shared_ptr<IteratorObject> source_;
};

}  // namespace qwick::jinja
