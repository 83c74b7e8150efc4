// The special variable `loop`.
#include "text/jinja/loop.h"

#include <algorithm>

#include "text/jinja/builtins.h"

namespace qwick::jinja {
namespace {

// loop.cycle and loop.changed.
class LoopMethod final : public NativeObject {
 public:
  LoopMethod(const Value& loop, bool is_cycle)
      : NativeObject(loop.depth() + 1), loop_(loop), is_cycle_(is_cycle) {}
  Value call(Runtime& runtime, Args args) override {
    auto& loop = static_cast<LoopObject&>(loop_.native());
    if (!args.keyword.empty()) throw TemplateError("loop methods take no keyword arguments");
    return is_cycle_ ? loop.cycle(args) : Value::boolean(loop.changed(runtime, std::move(args)));
  }
  std::string repr() const override { return "<bound method of LoopContext>"; }
  const char* type_name() const override { return "method"; }

 private:
  Value loop_;
  bool is_cycle_;
};

}  // namespace

LoopObject::LoopObject(const Value& iterable, std::shared_ptr<IteratorObject> iterator, const ForStmt& stmt,
                       Frame& closure, int64_t depth0)
    : NativeObject(std::max(iterable.depth(), iterator->depth) + 1),
      iterable_(iterable),
      iterator_(std::move(iterator)),
      stmt_(stmt),
      closure_(closure),
      depth0_(depth0) {}

bool LoopObject::advance(Value& item) {
  if (!after_.is_missing()) {
    item = std::move(after_);
    after_ = {};
  } else if (!iterator_->next(item)) {
    return false;
  }
  ++index0_;
  before_ = std::move(current_);
  current_ = item;
  return true;
}

void LoopObject::finish() {
  finished_ = true;
  last_changed_ = {};
}

const Value& LoopObject::peek() {
  if (after_.is_missing() && !iterator_->next(after_)) after_ = {};
  return after_;
}

int64_t LoopObject::length(Runtime& runtime) {
  if (length_ >= 0) return length_;
  length_ = stmt_.test == nullptr ? length_or_negative(iterable_) : -1;
  if (length_ >= 0) return length_;
  // No length of its own: read what is left, and go on from there.
  const Value rest = Value::list(to_values(runtime.budget(), Value::object(Type::kIterator, iterator_)));
  length_ = static_cast<int64_t>(rest.items().size()) + index0_ + 1 + (after_.is_missing() ? 0 : 1);
  iterator_ = iterate(rest);
  return length_;
}

Value LoopObject::call(Runtime& runtime, Args args) {
  if (!stmt_.recursive)
    throw TemplateError("the loop must have the 'recursive' marker to be called recursively");
  auto [iterable] = bind<1>("loop", args, {"iterable"}, 1);
  return runtime.make_string(runtime.run_recursive_loop(stmt_, iterable, closure_, depth0_ + 1));
}

Value LoopObject::cycle(const Args& args) const {
  if (args.positional.empty()) throw TemplateError("no items for cycling given");
  return args.positional[static_cast<size_t>(index0_) % args.positional.size()];
}

bool LoopObject::changed(Runtime& runtime, Args args) {
  Value value = Value::tuple(std::move(args.positional));
  if (!last_changed_.is_missing() && equal(runtime.budget(), last_changed_, value)) return false;
  if (!finished_) last_changed_ = std::move(value);
  return true;
}

Value LoopObject::attribute(Runtime& runtime, const Value& self, std::string_view name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(peek().is_missing());
  if (name == "length") return Value::integer(length(runtime));
  if (name == "revindex") return Value::integer(length(runtime) - index0_);
  if (name == "revindex0") return Value::integer(length(runtime) - index0_ - 1);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "previtem") return index0_ == 0 ? Value::undefined_hint("there is no previous item") : before_;
  if (name == "cycle" || name == "changed") {
    return Value::object(Type::kNative, std::make_shared<LoopMethod>(self, name == "cycle"));
  }
  if (name == "nextitem")
    return peek().is_missing() ? Value::undefined_hint("there is no next item") : peek();
  return {};
}

bool LoopFilter::next(Value& out) {
  while (source_->next(out)) {
    runtime_.budget().step();
    runtime_.assign(*stmt_.test_target, out, frame_);
    if (truth(runtime_.eval(*stmt_.test, frame_))) return true;
  }
  return false;
}

}  // namespace qwick::jinja
