// Statements of the template language.
#include "text/jinja/parser.h"

#include <algorithm>

#include "base/error.h"

namespace qwick::jinja {
namespace {

constexpr int kMaxBlockNesting = 60;

// The loop filter assigns the loop's variables on its own, so it has a target of its own.
ExprPtr copy_target(const Expr& target) {
  if (target.kind == ExprKind::kName) {
    return std::make_unique<NameExpr>(target.line, static_cast<const NameExpr&>(target).name);
  }
  Exprs items;
  for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) items.push_back(copy_target(*item));
  return std::make_unique<ItemsExpr>(ExprKind::kTuple, target.line, std::move(items));
}

}  // namespace

Body Parser::parse() {
  Body body = parse_body({});
  return body;
}

Body Parser::parse_body(std::initializer_list<std::string_view> ends) {
  Body body;
  while (current().kind != TokenKind::kEnd) {
    const int line = current().line;
    switch (current().kind) {
      case TokenKind::kText:
        body.push_back(std::make_unique<TextStmt>(line, next().text));
        break;
      case TokenKind::kPrintBegin:
        next();
        body.push_back(std::make_unique<PrintStmt>(line, parse_tuple()));
        expect(TokenKind::kPrintEnd, "end of print statement");
        break;
      case TokenKind::kTagBegin:
        next();
        if (current().kind == TokenKind::kName &&
            std::find(ends.begin(), ends.end(), current().text) != ends.end()) {
          return body;
        }
        if (is_name("print")) {
          parse_print(body);
        } else {
          body.push_back(parse_statement());
        }
        expect(TokenKind::kTagEnd, "end of statement block");
        break;
      default:
        fail_unexpected();
    }
  }
  if (ends.size() > 0)
    fail_at(current().line, "unexpected end of template, expected " + std::string(*(ends.end() - 1)));
  return body;
}

Body Parser::parse_block(std::initializer_list<std::string_view> ends) {
  skip_operator(":");
  expect(TokenKind::kTagEnd, "end of statement block");
  if (++nesting_ > kMaxBlockNesting) fail_at(current().line, "statements nested too deeply");
  Body body = parse_body(ends);
  --nesting_;
  return body;
}

Body Parser::parse_whole_block(std::string_view end) {
  Body body = parse_block({end});
  next();
  return body;
}

std::unique_ptr<Stmt> Parser::parse_statement() {
  const int line = current().line;
  const std::string tag = expect_name();
  if (tag == "set") return parse_set(line);
  if (tag == "if") return parse_if(line);
  if (tag == "for") return parse_for(line);
  if (tag == "with") return parse_with(line);
  if (tag == "macro") return parse_macro(line);
  if (tag == "call") return parse_call_block(line);
  if (tag == "filter") return parse_filter_block(line);
  if (tag == "generation") return parse_generation(line);
  if (tag == "break") return std::make_unique<JumpStmt>(StmtKind::kBreak, line);
  if (tag == "continue") return std::make_unique<JumpStmt>(StmtKind::kContinue, line);
  for (const std::string_view refused : {"include", "import", "from", "extends", "block", "autoescape"}) {
    if (tag == refused) fail_at(line, "the tag '" + tag + "' is not supported in chat templates");
  }
  fail_at(line, "unknown tag '" + tag + "'");
}

std::unique_ptr<Stmt> Parser::parse_set(int line) {
  ExprPtr target = parse_target(true);
  if (skip_operator("=")) return std::make_unique<SetStmt>(line, std::move(target), parse_tuple());
  auto block = std::make_unique<SetBlockStmt>(line);
  block->target = std::move(target);
  block->filter = parse_filters(nullptr, false);
  block->body = parse_whole_block("endset");
  return block;
}

std::unique_ptr<Stmt> Parser::parse_if(int line) {
  auto stmt = std::make_unique<IfStmt>(line);
  while (true) {
    IfStmt::Branch branch;
    branch.test = parse_tuple(false);
    branch.body = parse_block({"elif", "else", "endif"});
    stmt->branches.push_back(std::move(branch));
    if (skip_name("elif")) continue;
    if (skip_name("else")) {
      stmt->otherwise = parse_whole_block("endif");
    } else {
      next();
    }
    return stmt;
  }
}

std::unique_ptr<Stmt> Parser::parse_for(int line) {
  auto stmt = std::make_unique<ForStmt>(line);
  stmt->target = parse_target(false, "in");
  expect_name("in");
  stmt->iterable = parse_tuple(false, "recursive");
  if (skip_name("if")) {
    stmt->test = parse_expression();
    stmt->test_target = copy_target(*stmt->target);
  }
  stmt->recursive = skip_name("recursive");
  stmt->body = parse_block({"else", "endfor"});
  if (next().text == "else") stmt->otherwise = parse_whole_block("endfor");
  return stmt;
}

std::unique_ptr<Stmt> Parser::parse_with(int line) {
  auto stmt = std::make_unique<WithStmt>(line);
  while (current().kind != TokenKind::kTagEnd) {
    if (!stmt->targets.empty()) expect_operator(",");
    stmt->targets.push_back(parse_target(false));
    expect_operator("=");
    stmt->values.push_back(parse_expression());
  }
  stmt->body = parse_whole_block("endwith");
  return stmt;
}

void Parser::parse_parameters(Function& function) {
  expect_operator("(");
  bool fallbacks = false;
  while (!is_operator(")")) {
    if (!function.parameters.empty()) expect_operator(",");
    Function::Parameter parameter;
    const int line = current().line;
    parameter.name = expect_name();
    for (const Function::Parameter& other : function.parameters) {
      if (other.name == parameter.name) fail_at(line, "duplicate parameter '" + parameter.name + "'");
    }
    if (skip_operator("=")) {
      parameter.fallback = parse_expression();
      fallbacks = true;
    } else if (fallbacks) {
      fail_at(line, "non-default argument follows default argument");
    }
    function.parameters.push_back(std::move(parameter));
  }
  next();
}

std::unique_ptr<Stmt> Parser::parse_macro(int line) {
  auto stmt = std::make_unique<MacroStmt>(line);
  stmt->function.name = expect_name();
  stmt->target = std::make_unique<NameExpr>(line, stmt->function.name);
  parse_parameters(stmt->function);
  stmt->function.body = parse_whole_block("endmacro");
  return stmt;
}

std::unique_ptr<Stmt> Parser::parse_call_block(int line) {
  auto stmt = std::make_unique<CallBlockStmt>(line);
  if (is_operator("(")) parse_parameters(stmt->function);
  stmt->call = parse_expression();
  if (stmt->call->kind != ExprKind::kCall) fail_at(line, "expected a call");
  stmt->function.body = parse_whole_block("endcall");
  return stmt;
}

std::unique_ptr<Stmt> Parser::parse_filter_block(int line) {
  auto stmt = std::make_unique<FilterBlockStmt>(line);
  stmt->filter = parse_filters(nullptr, true);
  stmt->body = parse_whole_block("endfilter");
  return stmt;
}

std::unique_ptr<Stmt> Parser::parse_generation(int line) {
  auto stmt = std::make_unique<GenerationStmt>(line);
  stmt->function.body = parse_whole_block("endgeneration");
  return stmt;
}

void Parser::parse_print(Body& body) {
  next();
  bool first = true;
  while (current().kind != TokenKind::kTagEnd) {
    if (!first) expect_operator(",");
    first = false;
    const int line = current().line;
    body.push_back(std::make_unique<PrintStmt>(line, parse_expression()));
  }
}

}  // namespace qwick::jinja
