// Walking over the syntax tree.
#include "text/jinja/walk.h"

namespace qwick::jinja {
namespace {

void visit_arguments(const Arguments& arguments, const std::function<void(Expr&)>& visit) {
  for (const ExprPtr& argument : arguments.positional) visit(*argument);
  for (const auto& [name, argument] : arguments.keyword) visit(*argument);
  if (arguments.star) visit(*arguments.star);
  if (arguments.star_star) visit(*arguments.star_star);
}

void visit_all(std::initializer_list<const ExprPtr*> children, const std::function<void(Expr&)>& visit) {
  for (const ExprPtr* child : children) {
    if (*child != nullptr) visit(**child);
  }
}

class NameWalker {
 public:
  explicit NameWalker(const NameVisitor& visitor) : visitor_(visitor) {}

  void body(const Body& stmts) {
    for (const auto& stmt : stmts) this->stmt(*stmt);
  }

 private:
  void expr(const ExprPtr& root) {
    if (root == nullptr) return;
    walk_expressions(*root, [&](const Expr& e) {
      if (e.kind == ExprKind::kName) visitor_.read(static_cast<const NameExpr&>(e).name);
      if (e.kind == ExprKind::kNamespaceRef) visitor_.read(static_cast<const NamespaceRefExpr&>(e).object);
    });
  }
  void target(const ExprPtr& root) {
    if (root->kind == ExprKind::kNamespaceRef) return expr(root);
    walk_targets(*root, visitor_.assigned);
  }
  void function(const Function& function) {
    for (const Function::Parameter& parameter : function.parameters) visitor_.declared(parameter.name);
    for (const Function::Parameter& parameter : function.parameters) expr(parameter.fallback);
    body(function.body);
  }
  void stmt(const Stmt& stmt);

  const NameVisitor& visitor_;
};

void NameWalker::stmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kPrint:
      return expr(static_cast<const PrintStmt&>(stmt).value);
    case StmtKind::kSet: {
      const auto& set = static_cast<const SetStmt&>(stmt);
      target(set.target);
      return expr(set.value);
    }
    case StmtKind::kSetBlock: {
      const auto& set = static_cast<const SetBlockStmt&>(stmt);
      target(set.target);
      expr(set.filter);
      return body(set.body);
    }
    case StmtKind::kIf: {
      const auto& choice = static_cast<const IfStmt&>(stmt);
      for (const IfStmt::Branch& branch : choice.branches) {
        expr(branch.test);
        body(branch.body);
      }
      return body(choice.otherwise);
    }
    case StmtKind::kFor: {
      const auto& loop = static_cast<const ForStmt&>(stmt);
      target(loop.target);
      expr(loop.iterable);
      body(loop.body);
      body(loop.otherwise);
      return expr(loop.test);
    }
    case StmtKind::kWith: {
      const auto& with = static_cast<const WithStmt&>(stmt);
      for (const ExprPtr& each : with.targets) walk_targets(*each, visitor_.declared);
      for (const ExprPtr& each : with.values) expr(each);
      return body(with.body);
    }
    case StmtKind::kMacro:
      return function(static_cast<const MacroStmt&>(stmt).function);
    case StmtKind::kCallBlock: {
      const auto& call = static_cast<const CallBlockStmt&>(stmt);
      expr(call.call);
      return function(call.function);
    }
    case StmtKind::kFilterBlock: {
      const auto& block = static_cast<const FilterBlockStmt&>(stmt);
      body(block.body);
      return expr(block.filter);
    }
    case StmtKind::kGeneration:
      return function(static_cast<const GenerationStmt&>(stmt).function);
    default:
      return;
  }
}

}  // namespace

void for_each_child(const Expr& expr, const std::function<void(Expr&)>& visit) {
  switch (expr.kind) {
    case ExprKind::kConst:
    case ExprKind::kName:
    case ExprKind::kNamespaceRef:
      return;
    case ExprKind::kAttribute:
      return visit(*static_cast<const AttributeExpr&>(expr).object);
    case ExprKind::kSubscript: {
      const auto& item = static_cast<const SubscriptExpr&>(expr);
      return visit_all({&item.object, &item.index}, visit);
    }
    case ExprKind::kSlice: {
      const auto& slice = static_cast<const SliceExpr&>(expr);
      return visit_all({&slice.object, &slice.start, &slice.stop, &slice.step}, visit);
    }
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallExpr&>(expr);
      visit(*call.callee);
      return visit_arguments(call.arguments, visit);
    }
    case ExprKind::kFilter: {
      const auto& filter = static_cast<const FilterExpr&>(expr);
      if (filter.input) visit(*filter.input);
      return visit_arguments(filter.arguments, visit);
    }
    case ExprKind::kTest: {
      const auto& test = static_cast<const TestExpr&>(expr);
      visit(*test.input);
      return visit_arguments(test.arguments, visit);
    }
    case ExprKind::kUnary:
      return visit(*static_cast<const UnaryExpr&>(expr).operand);
    case ExprKind::kBinary: {
      const auto& binary = static_cast<const BinaryExpr&>(expr);
      return visit_all({&binary.left, &binary.right}, visit);
    }
    case ExprKind::kLogic: {
      const auto& logic = static_cast<const LogicExpr&>(expr);
      return visit_all({&logic.left, &logic.right}, visit);
    }
    case ExprKind::kCompare: {
      const auto& compare = static_cast<const CompareExpr&>(expr);
      visit(*compare.first);
      for (const auto& [op, operand] : compare.rest) visit(*operand);
      return;
    }
    case ExprKind::kCondition: {
      const auto& condition = static_cast<const ConditionExpr&>(expr);
      return visit_all({&condition.test, &condition.yes, &condition.no}, visit);
    }
    case ExprKind::kConcat:
    case ExprKind::kList:
    case ExprKind::kTuple:
      for (const ExprPtr& item : static_cast<const ItemsExpr&>(expr).items) visit(*item);
      return;
    case ExprKind::kDict:
      for (const auto& [key, value] : static_cast<const DictExpr&>(expr).entries)
        visit_all({&key, &value}, visit);
      return;
  }
}

void walk_expressions(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit(expr);
  for_each_child(expr, [&](const Expr& child) { walk_expressions(child, visit); });
}

void walk_names(const Body& body, const NameVisitor& visitor) {
  NameWalker(visitor).body(body);
}

void walk_targets(const Expr& target, const std::function<void(const std::string&)>& visit) {
  if (target.kind == ExprKind::kName) visit(static_cast<const NameExpr&>(target).name);
  if (target.kind != ExprKind::kTuple) return;
  for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) walk_targets(*item, visit);
}

void walk_assigned_names(const Body& body, const std::function<void(const std::string&)>& visit) {
  const auto ignore = [](const std::string&) {};
  walk_names(body, {ignore, visit, ignore});
}

std::set<std::string> reads_undeclared(const Body& body, std::set<std::string> names) {
  std::set<std::string> read;
  const auto note = [&](const std::string& name) {
    if (names.contains(name)) read.insert(name);
  };
  const auto forget = [&](const std::string& name) { names.erase(name); };
  walk_names(body, {note, forget, forget});
  return read;
}

}  // namespace qwick::jinja
