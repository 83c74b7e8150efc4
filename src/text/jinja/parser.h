// Tokens to the syntax tree, by Jinja's grammar with the tags that transformers adds (generation,
// break, continue). Tags that would read other templates are refused. Expressions are parsed by the
// base class (expression_parser.cc, primary_parser.cc), statements by the derived one (parser.cc).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace qwick::jinja {

class ExpressionParser {
 public:
  ExpressionParser(std::vector<Token> tokens, const std::string& name)
      : tokens_(std::move(tokens)), name_(name) {}

 protected:
  const Token& current() const { return tokens_[position_]; }
  const Token& ahead() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  Token next();
  bool is_name(std::string_view name) const {
    return current().kind == TokenKind::kName && current().text == name;
  }
  bool is_operator(std::string_view op) const {
    return current().kind == TokenKind::kOperator && current().text == op;
  }
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view op);
  std::string expect_name();
  void expect_name(std::string_view name);
  void expect_operator(std::string_view op);
  void expect(TokenKind kind, const char* what);
  [[noreturn]] void fail_at(int line, const std::string& message) const;
  [[noreturn]] void fail_unexpected(const char* expected = nullptr) const;

  ExprPtr parse_expression(bool with_condition = true);
  // Several expressions with commas between them are a tuple. `end_name` ends it as a closing bracket does.
  ExprPtr parse_tuple(bool with_condition = true, std::string_view end_name = {},
                      bool in_parentheses = false);
  // A name, a tuple of targets or, for `set`, a namespace attribute.
  ExprPtr parse_target(bool with_namespace, std::string_view end_name = {});
  ExprPtr parse_filters(ExprPtr input, bool first_without_bar);
  ExprPtr parse_filter_here(ExprPtr input);

 private:
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary(bool with_namespace = false);
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_postfix_filters(ExprPtr expr);
  ExprPtr parse_dot(ExprPtr object);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_call(ExprPtr callee);
  ExprPtr parse_test(ExprPtr input);
  ExprPtr parse_name(bool with_namespace);
  ExprPtr parse_binary(ExprPtr (ExpressionParser::*operand)(),
                       std::initializer_list<std::pair<std::string_view, BinaryOp>> operators);
  Arguments parse_arguments();
  void check_target(const Expr& target) const;
  bool is_tuple_end(std::string_view end_name) const;
  // Records that `child` is below `parent`; the tree may be only so deep.
  void adopt(Expr& parent, const ExprPtr& child) const;
  void adopt(Expr& parent, const Arguments& arguments) const;

  const std::vector<Token> tokens_;
  const std::string& name_;
  size_t position_ = 0;
  int nesting_ = 0;
};

class Parser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;
  // Throws Error kUnsupported "NAME, line N: ...".
  Body parse();

 private:
  Body parse_body(std::initializer_list<std::string_view> ends);
  // The rest of a tag, its body and the end tag, which is left current: `end` is one of `ends`.
  Body parse_block(std::initializer_list<std::string_view> ends);
  Body parse_whole_block(std::string_view end);
  std::unique_ptr<Stmt> parse_statement();
  std::unique_ptr<Stmt> parse_set(int line);
  std::unique_ptr<Stmt> parse_if(int line);
  std::unique_ptr<Stmt> parse_for(int line);
  std::unique_ptr<Stmt> parse_with(int line);
  std::unique_ptr<Stmt> parse_macro(int line);
  std::unique_ptr<Stmt> parse_call_block(int line);
  std::unique_ptr<Stmt> parse_filter_block(int line);
  std::unique_ptr<Stmt> parse_generation(int line);
  void parse_print(Body& body);
  void parse_parameters(Function& function);

  int nesting_ = 0;
};

}  // namespace qwick::jinja
