// Statements: running the syntax tree.
#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/depth.h"
#include "text/jinja/loop.h"
#include "text/jinja/macro.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {

// Sends what is written to a string of its own for as long as it lives.
class Runtime::Capture {
 public:
  explicit Capture(Runtime& runtime) : runtime_(runtime), outer_(runtime.out_) { runtime.out_ = &text_; }
  ~Capture() { runtime_.out_ = outer_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::string take() { return std::move(text_); }

 private:
  Runtime& runtime_;
  std::string* outer_;
  std::string text_;
};

Runtime::Runtime(const Variables& variables, const Limits& limits)
    : variables_(variables), limits_(limits), budget_(limits.steps, limits.bytes) {}

// Namespaces and frames may hold each other through values: emptied first, then destroyed.
Runtime::~Runtime() {
  for (const auto& frame : frames_) frame->slots.clear();
  for (const auto& ns : namespaces_) ns->attributes.clear();
}

std::string Runtime::render(const Function& root) {
  std::string text;
  out_ = &text;
  Frame& frame = new_frame(nullptr, root.slot_count);
  enter(root.scope, frame);
  run_body(root.body, frame);
  return text;
}

Frame& Runtime::new_frame(Frame* parent, int slot_count) {
  budget_.bytes(static_cast<size_t>(slot_count) * sizeof(Value));
  if (free_frames_.empty()) {
    frames_.push_back(std::make_unique<Frame>());
    free_frames_.push_back(frames_.back().get());
  }
  Frame& frame = *free_frames_.back();
  free_frames_.pop_back();
  frame.parent = parent;
  frame.slots.assign(static_cast<size_t>(slot_count), Value());
  return frame;
}

void Runtime::release_frame(Frame& frame) {
  if (frame.captured) return;
  frame.slots.clear();
  free_frames_.push_back(&frame);
}

Value Runtime::lookup(const std::string& name) {
  for (const auto& [key, value] : variables_) {
    if (key == name) return value;
  }
  const auto it = globals_.find(name);
  if (it != globals_.end()) return it->second;
  return globals_.emplace(name, make_global(name)).first->second;
}

void Runtime::enter(const Scope& scope, Frame& frame) {
  for (const Scope::Load& load : scope.loads) {
    Value& slot = frame.slots[static_cast<size_t>(load.slot)];
    switch (load.from) {
      case Scope::Load::From::kParameter:
        break;
      case Scope::Load::From::kContext:
        slot = lookup(load.name);
        break;
      case Scope::Load::From::kOuter:
        slot = at(load.outer, frame);
        break;
      case Scope::Load::From::kNothing:
        slot = {};
        break;
    }
  }
}

void Runtime::leave(const Scope& scope, Frame& frame) {
  for (const Scope::Load& load : scope.loads) frame.slots[static_cast<size_t>(load.slot)] = {};
}

void Runtime::write(std::string_view text) {
  budget_.bytes(text.size());
  if (out_->size() + text.size() > limits_.output) throw TemplateError("the template's output is too long");
  out_->append(text);
}

void Runtime::write(const Value& value) {
  if (value.is_string()) {
    write(value.text());
  } else if (!value.is_undefined()) {
    write(to_text(budget_, value));
  }
}

Value Runtime::make_string(std::string text, bool markup) {
  budget_.bytes(text.size());
  return Value::string(std::move(text), markup);
}

Value Runtime::new_namespace(std::vector<std::pair<std::string, Value>> attributes) {
  auto ns = std::make_shared<NamespaceObject>();
  budget_.bytes(sizeof(NamespaceObject) + attributes.size() * sizeof(attributes[0]));
  for (auto& [name, value] : attributes) ns->set(name, std::move(value));
  namespaces_.push_back(ns);
  return Value::object(Type::kNamespace, std::move(ns));
}

Runtime::Signal Runtime::run_body(const Body& body, Frame& frame) {
  const Depth depth(*this);
  for (const auto& stmt : body) {
    budget_.step();
    line_ = stmt->line;
    const Signal signal = run_stmt(*stmt, frame);
    if (signal != Signal::kNone) return signal;
  }
  return Signal::kNone;
}

Runtime::Signal Runtime::run_stmt(const Stmt& stmt, Frame& frame) {
  switch (stmt.kind) {
    case StmtKind::kText:
      write(static_cast<const TextStmt&>(stmt).text);
      break;
    case StmtKind::kPrint:
      write(eval(*static_cast<const PrintStmt&>(stmt).value, frame));
      break;
    case StmtKind::kSet:
      run_set(static_cast<const SetStmt&>(stmt), frame);
      break;
    case StmtKind::kSetBlock:
      return run_set_block(static_cast<const SetBlockStmt&>(stmt), frame);
    case StmtKind::kIf:
      return run_if(static_cast<const IfStmt&>(stmt), frame);
    case StmtKind::kFor:
      return run_for(static_cast<const ForStmt&>(stmt), frame);
    case StmtKind::kWith:
      return run_with(static_cast<const WithStmt&>(stmt), frame);
    case StmtKind::kMacro: {
      const auto& macro = static_cast<const MacroStmt&>(stmt);
      assign(*macro.target,
             Value::object(Type::kNative, std::make_shared<MacroObject>(macro.function, frame)), frame);
      break;
    }
    case StmtKind::kCallBlock:
      run_call_block(static_cast<const CallBlockStmt&>(stmt), frame);
      break;
    case StmtKind::kFilterBlock:
      return run_filter_block(static_cast<const FilterBlockStmt&>(stmt), frame);
    case StmtKind::kGeneration:
      write(run_function(static_cast<const GenerationStmt&>(stmt).function, frame, {}, {}, {}, {}));
      break;
    case StmtKind::kBreak:
      return Signal::kBreak;
    case StmtKind::kContinue:
      return Signal::kContinue;
  }
  return Signal::kNone;
}

Runtime::Signal Runtime::run_if(const IfStmt& stmt, Frame& frame) {
  for (const IfStmt::Branch& branch : stmt.branches) {
    if (truth(eval(*branch.test, frame))) return run_body(branch.body, frame);
  }
  return run_body(stmt.otherwise, frame);
}

Runtime::Signal Runtime::run_for(const ForStmt& stmt, Frame& frame) {
  const Value iterable = eval(*stmt.iterable, frame);
  if (!stmt.recursive) return run_loop(stmt, frame, iterable, frame, 0);
  frame.captured = true;  // the loop object runs in it again when it is called
  write(run_recursive_loop(stmt, iterable, frame, 0));
  return Signal::kNone;
}

std::string Runtime::run_recursive_loop(const ForStmt& stmt, const Value& iterable, Frame& closure,
                                        int64_t depth0) {
  const int line = line_;
  Capture capture(*this);
  Frame& frame = new_frame(&closure, stmt.slot_count);
  frame.captured = true;  // loop filters and inner loops refer to it
  run_loop(stmt, frame, iterable, closure, depth0);
  line_ = line;
  return capture.take();
}

Runtime::Signal Runtime::run_loop(const ForStmt& stmt, Frame& frame, const Value& iterable, Frame& closure,
                                  int64_t depth0) {
  auto iterator = iterate(iterable);
  if (stmt.test) {
    enter(stmt.test_scope, frame);
    if (stmt.loop_slot >= 0) frame.captured = true;  // `loop` may outlive the function, with its filter
    iterator = std::make_shared<LoopFilter>(*this, stmt, frame, std::move(iterator));
  }
  std::shared_ptr<LoopObject> loop;
  if (stmt.loop_slot >= 0) loop = std::make_shared<LoopObject>(iterable, iterator, stmt, closure, depth0);
  bool run_else = !stmt.otherwise.empty();
  Signal signal = Signal::kNone;
  Value item;
  while (loop ? loop->advance(item) : iterator->next(item)) {
    budget_.step();
    assign(*stmt.target, std::move(item), frame);
    if (loop) frame.slots[static_cast<size_t>(stmt.loop_slot)] = Value::object(Type::kNative, loop);
    enter(stmt.scope, frame);
    signal = run_body(stmt.body, frame);
    if (signal == Signal::kBreak) break;
    // As in Jinja: `else` runs unless one round got to its end.
    if (signal == Signal::kNone) run_else = false;
  }
  leave(stmt.scope, frame);
  if (stmt.test) leave(stmt.test_scope, frame);
  if (loop) loop->finish();
  if (!run_else) return Signal::kNone;
  enter(stmt.otherwise_scope, frame);
  signal = run_body(stmt.otherwise, frame);
  leave(stmt.otherwise_scope, frame);
  return signal;
}

Runtime::Signal Runtime::run_set_block(const SetBlockStmt& stmt, Frame& frame) {
  enter(stmt.scope, frame);
  Capture capture(*this);
  const Signal signal = run_body(stmt.body, frame);
  if (signal != Signal::kNone) return signal;
  Value value = make_string(capture.take());
  if (stmt.filter) {
    block_text_ = value.text();
    value = eval(*stmt.filter, frame);
  }
  check_namespaces(*stmt.target, frame);
  assign(*stmt.target, std::move(value), frame);
  leave(stmt.scope, frame);
  return Signal::kNone;
}

Runtime::Signal Runtime::run_with(const WithStmt& stmt, Frame& frame) {
  enter(stmt.scope, frame);
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    assign(*stmt.targets[i], eval(*stmt.values[i], frame), frame);
  const Signal signal = run_body(stmt.body, frame);
  leave(stmt.scope, frame);
  return signal;
}

Runtime::Signal Runtime::run_filter_block(const FilterBlockStmt& stmt, Frame& frame) {
  enter(stmt.scope, frame);
  std::string text;
  {
    Capture capture(*this);
    const Signal signal = run_body(stmt.body, frame);
    if (signal != Signal::kNone) return signal;
    text = capture.take();
  }
  block_text_ = std::move(text);
  write(eval(*stmt.filter, frame));
  leave(stmt.scope, frame);
  return Signal::kNone;
}

void Runtime::run_set(const SetStmt& stmt, Frame& frame) {
  check_namespaces(*stmt.target, frame);
  assign(*stmt.target, eval(*stmt.value, frame), frame);
}

void Runtime::run_call_block(const CallBlockStmt& stmt, Frame& frame) {
  Value caller = Value::object(Type::kNative, std::make_shared<MacroObject>(stmt.function, frame));
  write(eval_call(static_cast<const CallExpr&>(*stmt.call), frame, std::move(caller)));
}

std::string Runtime::run_function(const Function& function, Frame& closure, Values arguments, Value caller,
                                  Value kwargs, Value varargs) {
  const Depth depth(*this);
  const int line = line_;
  Frame& frame = new_frame(&closure, function.slot_count);
  for (size_t i = 0; i < arguments.size(); ++i) {
    frame.slots[static_cast<size_t>(function.parameters[i].slot)] = std::move(arguments[i]);
  }
  if (function.caller_slot >= 0) frame.slots[static_cast<size_t>(function.caller_slot)] = std::move(caller);
  if (function.kwargs_slot >= 0) frame.slots[static_cast<size_t>(function.kwargs_slot)] = std::move(kwargs);
  if (function.varargs_slot >= 0)
    frame.slots[static_cast<size_t>(function.varargs_slot)] = std::move(varargs);
  Capture capture(*this);
  enter(function.scope, frame);
  for (const Function::Parameter& parameter : function.parameters) {
    Value& slot = frame.slots[static_cast<size_t>(parameter.slot)];
    if (!slot.is_missing()) continue;
    slot = parameter.fallback ? eval(*parameter.fallback, frame)
                              : Value::undefined_hint("parameter '" + parameter.name + "' was not provided");
  }
  run_body(function.body, frame);
  release_frame(frame);
  line_ = line;
  return capture.take();
}

void Runtime::check_namespaces(const Expr& target, Frame& frame) {
  if (target.kind == ExprKind::kTuple) {
    for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) check_namespaces(*item, frame);
  } else if (target.kind == ExprKind::kNamespaceRef) {
    const auto& ref = static_cast<const NamespaceRefExpr&>(target);
    if (!at(ref.slot, frame).is(Type::kNamespace))
      throw TemplateError("cannot assign attribute on non-namespace object");
  }
}

void Runtime::assign(const Expr& target, Value value, Frame& frame) {
  switch (target.kind) {
    case ExprKind::kName:
      at(static_cast<const NameExpr&>(target).slot, frame) = std::move(value);
      return;
    case ExprKind::kNamespaceRef: {
      const auto& ref = static_cast<const NamespaceRefExpr&>(target);
      if (ref.name.starts_with('_')) {
        throw TemplateError("names of namespace attributes must not begin with an underscore: '" + ref.name +
                            "'");
      }
      const Value ns = at(ref.slot, frame);
      if (!ns.is(Type::kNamespace)) throw TemplateError("cannot assign attribute on non-namespace object");
      ns.ns().set(ref.name, std::move(value));
      return;
    }
    default:
      break;
  }
  const Exprs& targets = static_cast<const ItemsExpr&>(target).items;
  if (!is_iterable(value))
    throw TemplateError(std::string("cannot unpack non-iterable ") + type_name(value) + " object");
  Values values = to_values(budget_, value);
  if (values.size() != targets.size()) {
    throw TemplateError("expected " + std::to_string(targets.size()) + " values to unpack, got " +
                        std::to_string(values.size()));
  }
  for (size_t i = 0; i < targets.size(); ++i) assign(*targets[i], std::move(values[i]), frame);
}

}  // namespace qwick::jinja
