// The syntax tree of a template. Made by the parser; the resolver fills in where variables live; the
// evaluator walks it. Immutable afterwards and shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/builtins.h"
#include "text/jinja/operators.h"
#include "text/jinja/value.h"

namespace qwick::jinja {

// A variable: which function's frame (0: the running one, 1: the one around it), which place in it.
struct Slot {
  int hops = 0;
  int index = -1;
};

enum class ExprKind : uint8_t {
  kConst,
  kName,
  kAttribute,
  kSubscript,
  kSlice,
  kCall,
  kFilter,
  kTest,
  kUnary,
  kBinary,
  kLogic,
  kCompare,
  kConcat,
  kCondition,
  kList,
  kTuple,
  kDict,
  kNamespaceRef,
};

struct Expr {
  Expr(ExprKind which, int at) : kind(which), line(at) {}
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;
  virtual ~Expr() = default;

  ExprKind kind;
  int line;
  int depth = 1;  // of the tree below; bounded by the parser
};
using ExprPtr = std::unique_ptr<Expr>;
using Exprs = std::vector<ExprPtr>;

struct Arguments {
  Exprs positional;
  std::vector<std::pair<std::string, ExprPtr>> keyword;
  ExprPtr star;
  ExprPtr star_star;
};

struct ConstExpr : Expr {
  ConstExpr(int at, Value x) : Expr(ExprKind::kConst, at), value(std::move(x)) {}
  Value value;
};

struct NameExpr : Expr {
  NameExpr(int at, std::string x) : Expr(ExprKind::kName, at), name(std::move(x)) {}
  std::string name;
  Slot slot;
};

struct AttributeExpr : Expr {
  AttributeExpr(int at, ExprPtr of, std::string x)
      : Expr(ExprKind::kAttribute, at), object(std::move(of)), name(std::move(x)) {}
  ExprPtr object;
  std::string name;
};

struct SubscriptExpr : Expr {
  SubscriptExpr(int at, ExprPtr of, ExprPtr by)
      : Expr(ExprKind::kSubscript, at), object(std::move(of)), index(std::move(by)) {}
  ExprPtr object;
  ExprPtr index;
};

struct SliceExpr : Expr {
  explicit SliceExpr(int at) : Expr(ExprKind::kSlice, at) {}
  ExprPtr object;
  ExprPtr start;  // each may be null
  ExprPtr stop;
  ExprPtr step;
};

struct CallExpr : Expr {
  CallExpr(int at, ExprPtr function, Arguments args)
      : Expr(ExprKind::kCall, at), callee(std::move(function)), arguments(std::move(args)) {}
  ExprPtr callee;
  Arguments arguments;
};

// Filters and tests. A null function is one that neither Jinja nor we know, an error where it is called.
struct FilterExpr : Expr {
  FilterExpr(int at, ExprPtr in, std::string x)
      : Expr(ExprKind::kFilter, at), input(std::move(in)), name(std::move(x)) {}
  ExprPtr input;  // null: the text of the block around
  std::string name;
  FilterFunction function = nullptr;
  Arguments arguments;
};

struct TestExpr : Expr {
  TestExpr(int at, ExprPtr in, std::string x)
      : Expr(ExprKind::kTest, at), input(std::move(in)), name(std::move(x)) {}
  ExprPtr input;
  std::string name;
  TestFunction function = nullptr;
  Arguments arguments;
};

struct UnaryExpr : Expr {
  enum class Op : uint8_t { kNot, kNegate, kPositive };
  UnaryExpr(int at, Op which, ExprPtr x) : Expr(ExprKind::kUnary, at), op(which), operand(std::move(x)) {}
  Op op;
  ExprPtr operand;
};

struct BinaryExpr : Expr {
  BinaryExpr(int at, BinaryOp which, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kBinary, at), op(which), left(std::move(a)), right(std::move(b)) {}
  BinaryOp op;
  ExprPtr left;
  ExprPtr right;
};

struct LogicExpr : Expr {
  LogicExpr(int at, bool conjunction, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kLogic, at), is_and(conjunction), left(std::move(a)), right(std::move(b)) {}
  bool is_and;
  ExprPtr left;
  ExprPtr right;
};

struct CompareExpr : Expr {
  CompareExpr(int at, ExprPtr a) : Expr(ExprKind::kCompare, at), first(std::move(a)) {}
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};

struct ConditionExpr : Expr {
  ConditionExpr(int at, ExprPtr a, ExprPtr b, ExprPtr c)
      : Expr(ExprKind::kCondition, at), test(std::move(a)), yes(std::move(b)), no(std::move(c)) {}
  ExprPtr test;
  ExprPtr yes;
  ExprPtr no;  // may be null
};

// kConcat (a ~ b ~ c), kList, kTuple.
struct ItemsExpr : Expr {
  ItemsExpr(ExprKind which, int at, Exprs x) : Expr(which, at), items(std::move(x)) {}
  Exprs items;
};

struct DictExpr : Expr {
  explicit DictExpr(int at) : Expr(ExprKind::kDict, at) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};

// `ns.name` as the target of an assignment.
struct NamespaceRefExpr : Expr {
  NamespaceRefExpr(int at, std::string of, std::string x)
      : Expr(ExprKind::kNamespaceRef, at), object(std::move(of)), name(std::move(x)) {}
  std::string object;
  std::string name;
  Slot slot;
};

enum class StmtKind : uint8_t {
  kText,
  kPrint,
  kSet,
  kSetBlock,
  kIf,
  kFor,
  kWith,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kGeneration,
  kBreak,
  kContinue,
};

struct Stmt {
  Stmt(StmtKind which, int at) : kind(which), line(at) {}
  Stmt(const Stmt&) = delete;
  Stmt& operator=(const Stmt&) = delete;
  virtual ~Stmt() = default;

  StmtKind kind;
  int line;
};
using Body = std::vector<std::unique_ptr<Stmt>>;

// What happens to variables when a scope is entered; afterwards all of them are unset again.
struct Scope {
  struct Load {
    enum class From : uint8_t { kParameter, kContext, kOuter, kNothing };
    int slot = -1;
    From from = From::kNothing;
    std::string name;  // kContext: the variable that was passed to render, or the global
    Slot outer;        // kOuter
  };
  std::vector<Load> loads;
};

// A body with variables of its own: the template, a macro, a call block, a recursive loop.
struct Function {
  struct Parameter {
    std::string name;
    int slot = -1;
    ExprPtr fallback;  // may be null
  };
  std::string name;  // "" for a call block
  std::vector<Parameter> parameters;
  int caller_slot = -1;  // -1: not used by the body
  int kwargs_slot = -1;
  int varargs_slot = -1;
  bool explicit_caller = false;
  int slot_count = 0;
  Scope scope;
  Body body;
};

struct TextStmt : Stmt {
  TextStmt(int at, std::string x) : Stmt(StmtKind::kText, at), text(std::move(x)) {}
  std::string text;
};

struct PrintStmt : Stmt {
  PrintStmt(int at, ExprPtr x) : Stmt(StmtKind::kPrint, at), value(std::move(x)) {}
  ExprPtr value;
};

struct SetStmt : Stmt {
  SetStmt(int at, ExprPtr to, ExprPtr x)
      : Stmt(StmtKind::kSet, at), target(std::move(to)), value(std::move(x)) {}
  ExprPtr target;
  ExprPtr value;
};

struct SetBlockStmt : Stmt {
  explicit SetBlockStmt(int at) : Stmt(StmtKind::kSetBlock, at) {}
  ExprPtr target;
  ExprPtr filter;  // may be null
  Body body;
  Scope scope;
};

struct IfStmt : Stmt {
  explicit IfStmt(int at) : Stmt(StmtKind::kIf, at) {}
  struct Branch {
    ExprPtr test;
    Body body;
  };
  std::vector<Branch> branches;
  Body otherwise;
};

struct ForStmt : Stmt {
  explicit ForStmt(int at) : Stmt(StmtKind::kFor, at) {}
  ExprPtr target;
  ExprPtr iterable;
  ExprPtr test;  // may be null
  bool recursive = false;
  Body body;
  Body otherwise;
  int loop_slot = -1;  // -1: the body doesn't use `loop`
  Scope scope;
  Scope test_scope;
  ExprPtr test_target;  // the target once more, with the places of the test's scope
  Scope otherwise_scope;
  int slot_count = 0;  // recursive: of its own frame
};

struct WithStmt : Stmt {
  explicit WithStmt(int at) : Stmt(StmtKind::kWith, at) {}
  Exprs targets;
  Exprs values;
  Body body;
  Scope scope;
};

struct MacroStmt : Stmt {
  explicit MacroStmt(int at) : Stmt(StmtKind::kMacro, at) {}
  ExprPtr target;
  Function function;
};

struct CallBlockStmt : Stmt {
  explicit CallBlockStmt(int at) : Stmt(StmtKind::kCallBlock, at) {}
  ExprPtr call;
  Function function;
};

struct FilterBlockStmt : Stmt {
  explicit FilterBlockStmt(int at) : Stmt(StmtKind::kFilterBlock, at) {}
  ExprPtr filter;
  Body body;
  Scope scope;
};

struct GenerationStmt : Stmt {
  explicit GenerationStmt(int at) : Stmt(StmtKind::kGeneration, at) {}
  Function function;
};

struct JumpStmt : Stmt {
  using Stmt::Stmt;
};

}  // namespace qwick::jinja
