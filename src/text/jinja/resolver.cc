// Variables to places. The rules, and their corner cases, are those of Jinja's compiler: a Symbols
// object is one of its frames, a Function what it makes one Python function of.
#include "text/jinja/resolver.h"

#include <set>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "text/jinja/symbols.h"
#include "text/jinja/walk.h"

namespace qwick::jinja {
namespace {

class Resolver {
 public:
  explicit Resolver(const std::string& name) : name_(name) {}

  void run(Function& root) {
    FunctionBuilder builder;
    Symbols symbols(nullptr, builder);
    collect(symbols, root.body);
    resolve_body(root.body, symbols, builder, {});
    root.scope = symbols.scope();
    root.slot_count = builder.count();
  }

 private:
  // Where a statement stands: in a loop that break can end; in an if, where unknown filters may stay.
  struct Position {
    bool in_loop = false;
    bool soft = false;
  };

  [[noreturn]] void refuse(int line, const std::string& message) const {
    fail(ErrorCode::kUnsupported, "{}, line {}: {}", name_, line, message);
  }

  void collect(Symbols& symbols, const Body& body) const {
    for (const auto& stmt : body) collect(symbols, *stmt);
  }
  void collect(Symbols& symbols, const Stmt& stmt) const;
  void collect_if(Symbols& symbols, const IfStmt& stmt, size_t branch) const;
  void collect_loads(Symbols& symbols, const Expr* expr) const;
  void collect_target(Symbols& symbols, const Expr& target, bool as_parameter) const;

  void resolve_body(Body& body, Symbols& symbols, FunctionBuilder& function, Position position);
  void resolve_stmt(Stmt& stmt, Symbols& symbols, FunctionBuilder& function, Position position);
  void resolve_for(ForStmt& stmt, Symbols& symbols, FunctionBuilder& function, Position position);
  void resolve_function(Function& inner, Symbols& symbols, const FunctionBuilder& function, int line);
  void resolve_expr(Expr& expr, const Symbols& symbols, bool soft) const;
  void resolve_filter(FilterExpr& filter, bool soft) const;
  void resolve_test(TestExpr& test, bool soft) const;
  void check_call(const CallExpr& call) const;
  static Slot place(const Symbols& symbols, const std::string& name) {
    const Ref* ref = symbols.find(name);
    QWICK_CHECK(ref != nullptr);  // collect() has seen every name of the scope
    return symbols.place(*ref);
  }

  const std::string& name_;
};

void Resolver::collect_loads(Symbols& symbols, const Expr* expr) const {
  if (expr == nullptr) return;
  walk_expressions(*expr, [&](const Expr& e) {
    if (e.kind == ExprKind::kName) symbols.load(static_cast<const NameExpr&>(e).name);
    if (e.kind == ExprKind::kNamespaceRef) symbols.load(static_cast<const NamespaceRefExpr&>(e).object);
  });
}

void Resolver::collect_target(Symbols& symbols, const Expr& target, bool as_parameter) const {
  if (target.kind == ExprKind::kTuple) {
    for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) {
      collect_target(symbols, *item, as_parameter);
    }
  } else if (target.kind == ExprKind::kNamespaceRef) {
    symbols.load(static_cast<const NamespaceRefExpr&>(target).object);
  } else if (as_parameter) {
    symbols.declare_parameter(static_cast<const NameExpr&>(target).name);
  } else {
    symbols.store(static_cast<const NameExpr&>(target).name);
  }
}

void Resolver::collect_if(Symbols& symbols, const IfStmt& stmt, size_t branch) const {
  collect_loads(symbols, stmt.branches[branch].test.get());
  Symbols body = symbols;
  collect(body, stmt.branches[branch].body);
  if (branch > 0) {
    // Jinja nests each elif as an if without an else.
    symbols.merge({body, symbols, symbols});
    return;
  }
  Symbols elifs = symbols;
  for (size_t i = 1; i < stmt.branches.size(); ++i) collect_if(elifs, stmt, i);
  Symbols otherwise = symbols;
  collect(otherwise, stmt.otherwise);
  symbols.merge({body, elifs, otherwise});
}

// What a statement reads and sets in the scope it stands in; bodies with scopes of their own are left out.
void Resolver::collect(Symbols& symbols, const Stmt& stmt) const {
  switch (stmt.kind) {
    case StmtKind::kPrint:
      collect_loads(symbols, static_cast<const PrintStmt&>(stmt).value.get());
      break;
    case StmtKind::kSet: {
      const auto& set = static_cast<const SetStmt&>(stmt);
      collect_loads(symbols, set.value.get());
      collect_target(symbols, *set.target, false);
      break;
    }
    case StmtKind::kSetBlock:
      collect_target(symbols, *static_cast<const SetBlockStmt&>(stmt).target, false);
      break;
    case StmtKind::kIf:
      collect_if(symbols, static_cast<const IfStmt&>(stmt), 0);
      break;
    case StmtKind::kFor:
      collect_loads(symbols, static_cast<const ForStmt&>(stmt).iterable.get());
      break;
    case StmtKind::kWith:
      for (const ExprPtr& value : static_cast<const WithStmt&>(stmt).values)
        collect_loads(symbols, value.get());
      break;
    case StmtKind::kMacro:
      symbols.store(static_cast<const MacroStmt&>(stmt).function.name);
      break;
    case StmtKind::kCallBlock:
      collect_loads(symbols, static_cast<const CallBlockStmt&>(stmt).call.get());
      break;
    case StmtKind::kFilterBlock:
      collect_loads(symbols, static_cast<const FilterBlockStmt&>(stmt).filter.get());
      break;
    default:
      break;
  }
}

void Resolver::resolve_body(Body& body, Symbols& symbols, FunctionBuilder& function, Position position) {
  for (const auto& stmt : body) resolve_stmt(*stmt, symbols, function, position);
}

void Resolver::resolve_stmt(Stmt& stmt, Symbols& symbols, FunctionBuilder& function, Position position) {
  const Position inner{position.in_loop, false};
  switch (stmt.kind) {
    case StmtKind::kText:
      break;
    case StmtKind::kPrint:
      resolve_expr(*static_cast<PrintStmt&>(stmt).value, symbols, position.soft);
      break;
    case StmtKind::kSet: {
      auto& set = static_cast<SetStmt&>(stmt);
      resolve_expr(*set.target, symbols, position.soft);
      resolve_expr(*set.value, symbols, position.soft);
      break;
    }
    case StmtKind::kSetBlock: {
      auto& set = static_cast<SetBlockStmt&>(stmt);
      Symbols block(&symbols, function);
      collect(block, set.body);
      collect_loads(block, set.filter.get());
      resolve_body(set.body, block, function, inner);
      if (set.filter) resolve_expr(*set.filter, block, false);
      resolve_expr(*set.target, symbols, position.soft);
      set.scope = block.scope();
      break;
    }
    case StmtKind::kIf: {
      auto& choice = static_cast<IfStmt&>(stmt);
      const Position soft{position.in_loop, true};
      for (IfStmt::Branch& branch : choice.branches) {
        resolve_expr(*branch.test, symbols, true);
        resolve_body(branch.body, symbols, function, soft);
      }
      resolve_body(choice.otherwise, symbols, function, soft);
      break;
    }
    case StmtKind::kFor:
      resolve_for(static_cast<ForStmt&>(stmt), symbols, function, position);
      break;
    case StmtKind::kWith: {
      auto& with = static_cast<WithStmt&>(stmt);
      Symbols block(&symbols, function);
      for (const ExprPtr& target : with.targets) collect_target(block, *target, true);
      collect(block, with.body);
      for (const ExprPtr& target : with.targets) resolve_expr(*target, block, false);
      for (const ExprPtr& value : with.values) resolve_expr(*value, symbols, position.soft);
      resolve_body(with.body, block, function, inner);
      with.scope = block.scope();
      break;
    }
    case StmtKind::kMacro: {
      auto& macro = static_cast<MacroStmt&>(stmt);
      resolve_expr(*macro.target, symbols, position.soft);
      resolve_function(macro.function, symbols, function, stmt.line);
      break;
    }
    case StmtKind::kCallBlock: {
      auto& call = static_cast<CallBlockStmt&>(stmt);
      resolve_function(call.function, symbols, function, stmt.line);
      resolve_expr(*call.call, symbols, position.soft);
      break;
    }
    case StmtKind::kFilterBlock: {
      auto& block = static_cast<FilterBlockStmt&>(stmt);
      Symbols inside(&symbols, function);
      collect(inside, block.body);
      collect_loads(inside, block.filter.get());
      resolve_body(block.body, inside, function, inner);
      resolve_expr(*block.filter, inside, false);
      block.scope = inside.scope();
      break;
    }
    case StmtKind::kGeneration:
      resolve_function(static_cast<GenerationStmt&>(stmt).function, symbols, function, stmt.line);
      break;
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      if (!position.in_loop) {
        refuse(stmt.line,
               stmt.kind == StmtKind::kBreak ? "'break' outside of a loop" : "'continue' outside of a loop");
      }
      break;
  }
}

void Resolver::resolve_for(ForStmt& stmt, Symbols& symbols, FunctionBuilder& function, Position position) {
  resolve_expr(*stmt.iterable, symbols, position.soft);
  FunctionBuilder own;
  own.depth = function.depth + 1;
  FunctionBuilder& loop_function = stmt.recursive ? own : function;

  Symbols loop(&symbols, loop_function);
  if (stmt.recursive || reads_undeclared(stmt.body, {"loop"}).contains("loop")) {
    stmt.loop_slot = loop.declare_parameter("loop");
  }
  bool sets_loop = false;
  const auto check = [&](const std::string& name) { sets_loop = sets_loop || name == "loop"; };
  walk_targets(*stmt.target, check);
  walk_assigned_names(stmt.body, check);
  walk_assigned_names(stmt.otherwise, check);
  if (sets_loop) refuse(stmt.line, "can't assign to the special variable 'loop'");

  collect_target(loop, *stmt.target, true);
  collect(loop, stmt.body);
  if (stmt.test) {
    // The filter runs ahead of the body (loop.nextitem), so its variables have places of their own.
    Symbols test(&symbols, loop_function, "if." + std::to_string(loop_function.count()) + ".");
    collect_target(test, *stmt.test_target, true);
    collect_loads(test, stmt.test.get());
    resolve_expr(*stmt.test_target, test, false);
    resolve_expr(*stmt.test, test, false);
    stmt.test_scope = test.scope();
  }
  resolve_expr(*stmt.target, loop, false);
  resolve_body(stmt.body, loop, loop_function, {true, false});
  stmt.scope = loop.scope();

  Symbols otherwise(&symbols, loop_function);
  collect(otherwise, stmt.otherwise);
  resolve_body(stmt.otherwise, otherwise, loop_function, {position.in_loop && !stmt.recursive, false});
  stmt.otherwise_scope = otherwise.scope();
  stmt.slot_count = own.count();
}

void Resolver::resolve_function(Function& inner, Symbols& symbols, const FunctionBuilder& function,
                                int line) {
  FunctionBuilder builder;
  builder.depth = function.depth + 1;
  Symbols own(&symbols, builder);
  const auto analyze = [&] {
    for (Function::Parameter& parameter : inner.parameters)
      parameter.slot = own.declare_parameter(parameter.name);
    for (const Function::Parameter& parameter : inner.parameters)
      collect_loads(own, parameter.fallback.get());
    collect(own, inner.body);
  };
  analyze();
  const auto used = reads_undeclared(inner.body, {"caller", "kwargs", "varargs"});
  std::set<std::string> given;
  for (const Function::Parameter& parameter : inner.parameters) {
    given.insert(parameter.name);
    if (parameter.name != "caller") continue;
    inner.explicit_caller = true;
    if (used.contains("caller") && !parameter.fallback) {
      refuse(line, "the special parameter 'caller' must be omitted or have a default");
    }
  }
  if (used.contains("caller") && !given.contains("caller"))
    inner.caller_slot = own.declare_parameter("caller");
  if (used.contains("kwargs") && !given.contains("kwargs"))
    inner.kwargs_slot = own.declare_parameter("kwargs");
  if (used.contains("varargs") && !given.contains("varargs"))
    inner.varargs_slot = own.declare_parameter("varargs");

  for (Function::Parameter& parameter : inner.parameters) {
    if (parameter.fallback) resolve_expr(*parameter.fallback, own, false);
  }
  resolve_body(inner.body, own, builder, {});
  inner.scope = own.scope();
  inner.slot_count = builder.count();
}

void Resolver::resolve_expr(Expr& expr, const Symbols& symbols, bool soft) const {
  switch (expr.kind) {
    case ExprKind::kName: {
      auto& name = static_cast<NameExpr&>(expr);
      name.slot = place(symbols, name.name);
      return;
    }
    case ExprKind::kNamespaceRef: {
      auto& ref = static_cast<NamespaceRefExpr&>(expr);
      ref.slot = place(symbols, ref.object);
      return;
    }
    case ExprKind::kFilter:
      resolve_filter(static_cast<FilterExpr&>(expr), soft);
      break;
    case ExprKind::kTest:
      resolve_test(static_cast<TestExpr&>(expr), soft);
      break;
    case ExprKind::kCall:
      check_call(static_cast<const CallExpr&>(expr));
      break;
    default:
      break;
  }
  const bool inner_soft = soft || expr.kind == ExprKind::kCondition;
  for_each_child(expr, [&](Expr& child) { resolve_expr(child, symbols, inner_soft); });
}

void Resolver::resolve_filter(FilterExpr& filter, bool soft) const {
  filter.function = find_filter(filter.name);
  if (filter.function != nullptr) return;
  if (is_unsupported_filter(filter.name))
    refuse(filter.line, "the filter '" + filter.name + "' is not supported");
  if (!soft) refuse(filter.line, "no filter named '" + filter.name + "'");
}

void Resolver::resolve_test(TestExpr& test, bool soft) const {
  test.function = find_test(test.name);
  if (test.function != nullptr) return;
  if (!soft) refuse(test.line, "no test named '" + test.name + "'");
}

void Resolver::check_call(const CallExpr& call) const {
  if (call.callee->kind == ExprKind::kAttribute) {
    const std::string& name = static_cast<const AttributeExpr&>(*call.callee).name;
    if (is_unsupported_method(name)) refuse(call.line, "the method '" + name + "' is not supported");
  } else if (call.callee->kind == ExprKind::kName) {
    const std::string& name = static_cast<const NameExpr&>(*call.callee).name;
    if (is_unsupported_global(name)) refuse(call.line, "the function '" + name + "' is not supported");
  }
}

}  // namespace

void resolve(Function& root, const std::string& name) {
  Resolver(name).run(root);
}

}  // namespace qwick::jinja
