// One render call: walks the syntax tree with the variables of the call and writes the text. Owns
// everything that lives during the call, and bounds its steps, memory, depth and output.
// Filters, tests and methods get it passed along. Lives on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/operators.h"
#include "text/jinja/value.h"

namespace qwick::jinja {

struct Limits {
  int64_t steps = 20'000'000;
  int64_t bytes = int64_t{256} << 20;  // memory written in all
  size_t output = size_t{64} << 20;
};

using Variables = std::vector<std::pair<std::string, Value>>;

// The variables of a running function. Macros that are made in it may outlive the function's run.
struct Frame {
  Frame* parent = nullptr;
  Values slots;
  bool captured = false;
};

class Runtime {
 public:
  Runtime(const Variables& variables, const Limits& limits);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Throws TemplateError; line() is where.
  std::string render(const Function& root);
  int line() const { return line_; }

  Budget& budget() { return budget_; }
  Value call(const Value& callee, Args args);
  Value new_namespace(std::vector<std::pair<std::string, Value>> attributes);
  std::string text_of(const Value& value) { return to_text(budget_, value); }
  // A string value whose memory is paid for.
  Value make_string(std::string text, bool markup = false);

 private:
  friend class MacroObject;
  friend class LoopObject;
  friend class LoopFilter;

  enum class Signal : uint8_t { kNone, kBreak, kContinue };
  class Depth;
  class Capture;

  // Statements (evaluator.cc).
  Signal run_body(const Body& body, Frame& frame);
  Signal run_stmt(const Stmt& stmt, Frame& frame);
  Signal run_if(const IfStmt& stmt, Frame& frame);
  Signal run_for(const ForStmt& stmt, Frame& frame);
  Signal run_loop(const ForStmt& stmt, Frame& frame, const Value& iterable, Frame& closure, int64_t depth0);
  Signal run_set_block(const SetBlockStmt& stmt, Frame& frame);
  Signal run_with(const WithStmt& stmt, Frame& frame);
  Signal run_filter_block(const FilterBlockStmt& stmt, Frame& frame);
  void run_set(const SetStmt& stmt, Frame& frame);
  void run_call_block(const CallBlockStmt& stmt, Frame& frame);
  std::string run_recursive_loop(const ForStmt& stmt, const Value& iterable, Frame& closure, int64_t depth0);
  std::string run_function(const Function& function, Frame& closure, Values arguments, Value caller,
                           Value kwargs, Value varargs);
  void write(const Value& value);
  void write(std::string_view text);
  void enter(const Scope& scope, Frame& frame);
  static void leave(const Scope& scope, Frame& frame);
  void assign(const Expr& target, Value value, Frame& frame);
  static void check_namespaces(const Expr& target, Frame& frame);

  // Expressions (expressions.cc).
  Value eval(const Expr& expr, Frame& frame);
  Value eval_name(const NameExpr& expr, Frame& frame);
  Value eval_slice(const SliceExpr& expr, Frame& frame);
  Value eval_call(const CallExpr& expr, Frame& frame, Value caller = {});
  Value eval_filter(const FilterExpr& expr, Frame& frame);
  Value eval_test(const TestExpr& expr, Frame& frame);
  Value eval_unary(const UnaryExpr& expr, Frame& frame);
  Value eval_binary(const BinaryExpr& expr, Frame& frame);
  Value eval_compare(const CompareExpr& expr, Frame& frame);
  Value eval_concat(const ItemsExpr& expr, Frame& frame);
  Value eval_condition(const ConditionExpr& expr, Frame& frame);
  Value eval_dict(const DictExpr& expr, Frame& frame);
  Values eval_all(const Exprs& exprs, Frame& frame);
  Args eval_arguments(const Arguments& arguments, Frame& frame);

  Value lookup(const std::string& name);
  Frame& new_frame(Frame* parent, int slot_count);
  void release_frame(Frame& frame);
  static Value& at(const Slot& slot, Frame& frame) {
    Frame* owner = &frame;
    for (int i = 0; i < slot.hops; ++i) owner = owner->parent;
    return owner->slots[static_cast<size_t>(slot.index)];
  }

  const Variables& variables_;
  const Limits limits_;
  Budget budget_;
  int line_ = 1;
  int depth_ = 0;
  std::string* out_ = nullptr;
  std::string block_text_;  // what a filter without input works on
  std::unordered_map<std::string, Value> globals_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame*> free_frames_;
  std::vector<std::shared_ptr<NamespaceObject>> namespaces_;
};

}  // namespace qwick::jinja
