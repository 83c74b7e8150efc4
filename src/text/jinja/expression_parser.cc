// Expressions of the template language, in the order of Jinja's precedence.
#include <algorithm>

#include "base/error.h"
#include "text/jinja/parser.h"

namespace qwick::jinja {
namespace {

constexpr int kMaxNesting = 200;    // brackets and operators inside each other, in the source
constexpr int kMaxTreeDepth = 400;  // of the tree that a long chain of operators makes

// Counts one level of recursion of the parser for as long as it lives.
class Level {
 public:
  explicit Level(int& count) : count_(count) { ++count_; }
  ~Level() { --count_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  int& count_;
};

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText:
      return "template text";
    case TokenKind::kPrintBegin:
      return "begin of print statement";
    case TokenKind::kPrintEnd:
      return "end of print statement";
    case TokenKind::kTagBegin:
      return "begin of statement block";
    case TokenKind::kTagEnd:
      return "end of statement block";
    case TokenKind::kString:
      return "string";
    case TokenKind::kInteger:
      return "integer";
    case TokenKind::kFloat:
      return "float";
    case TokenKind::kEnd:
      return "end of template";
    default:
      return "'" + token.text + "'";
  }
}

}  // namespace

Token ExpressionParser::next() {
  const Token& token = tokens_[position_];
  if (token.kind != TokenKind::kEnd) ++position_;
  return token;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_operator(std::string_view op) {
  if (!is_operator(op)) return false;
  next();
  return true;
}

std::string ExpressionParser::expect_name() {
  if (current().kind != TokenKind::kName) fail_unexpected("a name");
  return next().text;
}

void ExpressionParser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail_unexpected(std::string(name).c_str());
}

void ExpressionParser::expect_operator(std::string_view op) {
  if (!skip_operator(op)) fail_unexpected(("'" + std::string(op) + "'").c_str());
}

void ExpressionParser::expect(TokenKind kind, const char* what) {
  if (current().kind != kind) fail_unexpected(what);
  next();
}

void ExpressionParser::fail_at(int line, const std::string& message) const {
  fail(ErrorCode::kUnsupported, "{}, line {}: {}", name_, line, message);
}

void ExpressionParser::fail_unexpected(const char* expected) const {
  if (expected == nullptr) fail_at(current().line, "unexpected " + describe(current()));
  fail_at(current().line, std::string("expected ") + expected + ", got " + describe(current()));
}

void ExpressionParser::adopt(Expr& parent, const ExprPtr& child) const {
  if (child == nullptr) return;
  parent.depth = std::max(parent.depth, child->depth + 1);
  if (parent.depth > kMaxTreeDepth) fail_at(parent.line, "expression too complex");
}

void ExpressionParser::adopt(Expr& parent, const Arguments& arguments) const {
  for (const ExprPtr& argument : arguments.positional) adopt(parent, argument);
  for (const auto& [name, argument] : arguments.keyword) adopt(parent, argument);
  adopt(parent, arguments.star);
  adopt(parent, arguments.star_star);
}

ExprPtr ExpressionParser::parse_expression(bool with_condition) {
  const Level level(nesting_);
  if (nesting_ > kMaxNesting) fail_at(current().line, "expression nested too deeply");
  if (!with_condition) return parse_or();
  int line = current().line;
  ExprPtr expr = parse_or();
  while (skip_name("if")) {
    ExprPtr test = parse_or();
    ExprPtr no = skip_name("else") ? parse_expression() : nullptr;
    auto condition = std::make_unique<ConditionExpr>(line, std::move(test), std::move(expr), std::move(no));
    adopt(*condition, condition->test);
    adopt(*condition, condition->yes);
    adopt(*condition, condition->no);
    expr = std::move(condition);
    line = current().line;
  }
  return expr;
}

ExprPtr ExpressionParser::parse_or() {
  const int line = current().line;
  ExprPtr left = parse_and();
  while (skip_name("or")) {
    auto logic = std::make_unique<LogicExpr>(line, false, std::move(left), parse_and());
    adopt(*logic, logic->left);
    adopt(*logic, logic->right);
    left = std::move(logic);
  }
  return left;
}

ExprPtr ExpressionParser::parse_and() {
  const int line = current().line;
  ExprPtr left = parse_not();
  while (skip_name("and")) {
    auto logic = std::make_unique<LogicExpr>(line, true, std::move(left), parse_not());
    adopt(*logic, logic->left);
    adopt(*logic, logic->right);
    left = std::move(logic);
  }
  return left;
}

ExprPtr ExpressionParser::parse_not() {
  const int line = current().line;
  if (!skip_name("not")) return parse_compare();
  const Level level(nesting_);
  if (nesting_ > kMaxNesting) fail_at(line, "expression nested too deeply");
  auto expr = std::make_unique<UnaryExpr>(line, UnaryExpr::Op::kNot, parse_not());
  adopt(*expr, expr->operand);
  return expr;
}

ExprPtr ExpressionParser::parse_compare() {
  constexpr std::pair<std::string_view, CompareOp> kOperators[] = {
      {"==", CompareOp::kEq}, {"!=", CompareOp::kNe}, {"<", CompareOp::kLt},
      {"<=", CompareOp::kLe}, {">", CompareOp::kGt},  {">=", CompareOp::kGe},
  };
  auto compare = std::make_unique<CompareExpr>(current().line, parse_sum());
  adopt(*compare, compare->first);
  while (true) {
    const auto* known =
        std::find_if(std::begin(kOperators), std::end(kOperators), [&](const auto& op) { return is_operator(op.first); });
    CompareOp op = CompareOp::kIn;
    if (known != std::end(kOperators)) {
      next();
      op = known->second;
    } else if (is_name("not") && ahead().kind == TokenKind::kName && ahead().text == "in") {
      next();
      next();
      op = CompareOp::kNotIn;
    } else if (!skip_name("in")) {
      break;
    }
    compare->rest.emplace_back(op, parse_sum());
    adopt(*compare, compare->rest.back().second);
  }
  if (compare->rest.empty()) return std::move(compare->first);
  return compare;
}

ExprPtr ExpressionParser::parse_binary(ExprPtr (ExpressionParser::*operand)(),
                                       std::initializer_list<std::pair<std::string_view, BinaryOp>> operators) {
  const int line = current().line;
  ExprPtr left = (this->*operand)();
  while (true) {
    const auto* op = std::find_if(operators.begin(), operators.end(), [&](const auto& x) { return is_operator(x.first); });
    if (op == operators.end()) return left;
    next();
    auto binary = std::make_unique<BinaryExpr>(line, op->second, std::move(left), (this->*operand)());
    adopt(*binary, binary->left);
    adopt(*binary, binary->right);
    left = std::move(binary);
  }
}

ExprPtr ExpressionParser::parse_sum() {
  return parse_binary(&ExpressionParser::parse_concat, {{"+", BinaryOp::kAdd}, {"-", BinaryOp::kSub}});
}

ExprPtr ExpressionParser::parse_concat() {
  const int line = current().line;
  Exprs items;
  items.push_back(parse_product());
  while (skip_operator("~")) items.push_back(parse_product());
  if (items.size() == 1) return std::move(items.front());
  auto concat = std::make_unique<ItemsExpr>(ExprKind::kConcat, line, std::move(items));
  for (const ExprPtr& item : concat->items) adopt(*concat, item);
  return concat;
}

ExprPtr ExpressionParser::parse_product() {
  return parse_binary(&ExpressionParser::parse_power, {{"*", BinaryOp::kMul},
                                                       {"/", BinaryOp::kDiv},
                                                       {"//", BinaryOp::kFloorDiv},
                                                       {"%", BinaryOp::kMod}});
}

ExprPtr ExpressionParser::parse_power() {
  // Left to right, unlike Python.
  const int line = current().line;
  ExprPtr left = parse_unary();
  while (skip_operator("**")) {
    auto power = std::make_unique<BinaryExpr>(line, BinaryOp::kPow, std::move(left), parse_unary());
    adopt(*power, power->left);
    adopt(*power, power->right);
    left = std::move(power);
  }
  return left;
}

ExprPtr ExpressionParser::parse_unary(bool with_filter) {
  const Level level(nesting_);
  const int line = current().line;
  if (nesting_ > kMaxNesting * 2) fail_at(line, "expression nested too deeply");
  ExprPtr expr;
  if (is_operator("-") || is_operator("+")) {
    const auto op = next().text == "-" ? UnaryExpr::Op::kNegate : UnaryExpr::Op::kPositive;
    auto unary = std::make_unique<UnaryExpr>(line, op, parse_unary(false));
    adopt(*unary, unary->operand);
    expr = std::move(unary);
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filter ? parse_postfix_filters(std::move(expr)) : std::move(expr);
}

ExprPtr ExpressionParser::parse_name(bool with_namespace) {
  const Token token = next();
  if (token.text == "true" || token.text == "True") return std::make_unique<ConstExpr>(token.line, Value::boolean(true));
  if (token.text == "false" || token.text == "False") {
    return std::make_unique<ConstExpr>(token.line, Value::boolean(false));
  }
  if (token.text == "none" || token.text == "None") return std::make_unique<ConstExpr>(token.line, Value::none());
  if (with_namespace && skip_operator(".")) {
    return std::make_unique<NamespaceRefExpr>(token.line, token.text, expect_name());
  }
  return std::make_unique<NameExpr>(token.line, token.text);
}

ExprPtr ExpressionParser::parse_primary(bool with_namespace) {
  const int line = current().line;
  switch (current().kind) {
    case TokenKind::kName:
      return parse_name(with_namespace);
    case TokenKind::kString: {
      std::string text;
      while (current().kind == TokenKind::kString) text += next().text;
      return std::make_unique<ConstExpr>(line, Value::string(std::move(text)));
    }
    case TokenKind::kInteger:
      return std::make_unique<ConstExpr>(line, Value::integer(next().integer));
    case TokenKind::kFloat:
      return std::make_unique<ConstExpr>(line, Value::real(next().real));
    default:
      break;
  }
  if (skip_operator("(")) {
    ExprPtr expr = parse_tuple(true, {}, true);
    expect_operator(")");
    return expr;
  }
  if (is_operator("[")) return parse_list();
  if (is_operator("{")) return parse_dict();
  fail_unexpected();
}

bool ExpressionParser::is_tuple_end(std::string_view end_name) const {
  const TokenKind kind = current().kind;
  return kind == TokenKind::kPrintEnd || kind == TokenKind::kTagEnd || is_operator(")") ||
         (!end_name.empty() && is_name(end_name));
}

ExprPtr ExpressionParser::parse_tuple(bool with_condition, std::string_view end_name, bool in_parentheses) {
  const int line = current().line;
  Exprs items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_operator(",");
    if (is_tuple_end(end_name)) break;
    items.push_back(parse_expression(with_condition));
    if (!is_operator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return std::move(items.front());
    if (!in_parentheses) fail_unexpected("an expression");
  }
  auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, line, std::move(items));
  for (const ExprPtr& item : tuple->items) adopt(*tuple, item);
  return tuple;
}

ExprPtr ExpressionParser::parse_target(bool with_namespace, std::string_view end_name) {
  const int line = current().line;
  Exprs items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_operator(",");
    if (is_tuple_end(end_name)) break;
    items.push_back(parse_primary(with_namespace));
    if (!is_operator(",")) break;
    is_tuple = true;
  }
  if (items.empty()) fail_unexpected("a variable to assign to");
  ExprPtr target = std::move(items.front());
  if (is_tuple) {
    items.front() = std::move(target);
    target = std::make_unique<ItemsExpr>(ExprKind::kTuple, line, std::move(items));
  }
  check_target(*target);
  return target;
}

void ExpressionParser::check_target(const Expr& target) const {
  if (target.kind == ExprKind::kName || target.kind == ExprKind::kNamespaceRef) return;
  if (target.kind != ExprKind::kTuple) fail_at(target.line, "can't assign to this expression");
  for (const ExprPtr& item : static_cast<const ItemsExpr&>(target).items) check_target(*item);
}

ExprPtr ExpressionParser::parse_list() {
  const int line = next().line;
  Exprs items;
  while (!is_operator("]")) {
    if (!items.empty()) expect_operator(",");
    if (is_operator("]")) break;
    items.push_back(parse_expression());
  }
  next();
  auto list = std::make_unique<ItemsExpr>(ExprKind::kList, line, std::move(items));
  for (const ExprPtr& item : list->items) adopt(*list, item);
  return list;
}

ExprPtr ExpressionParser::parse_dict() {
  auto dict = std::make_unique<DictExpr>(next().line);
  while (!is_operator("}")) {
    if (!dict->entries.empty()) expect_operator(",");
    if (is_operator("}")) break;
    ExprPtr key = parse_expression();
    expect_operator(":");
    dict->entries.emplace_back(std::move(key), parse_expression());
    adopt(*dict, dict->entries.back().first);
    adopt(*dict, dict->entries.back().second);
  }
  next();
  return dict;
}

ExprPtr ExpressionParser::parse_postfix(ExprPtr expr) {
  while (true) {
    if (is_operator(".")) {
      expr = parse_dot(std::move(expr));
    } else if (is_operator("[")) {
      expr = parse_subscript(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExpressionParser::parse_postfix_filters(ExprPtr expr) {
  while (true) {
    if (is_operator("|")) {
      expr = parse_filters(std::move(expr), false);
    } else if (is_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr ExpressionParser::parse_dot(ExprPtr object) {
  const int line = next().line;
  if (current().kind == TokenKind::kName) {
    auto attribute = std::make_unique<AttributeExpr>(line, std::move(object), next().text);
    adopt(*attribute, attribute->object);
    return attribute;
  }
  if (current().kind != TokenKind::kInteger) fail_unexpected("a name or a number");
  auto index = std::make_unique<ConstExpr>(line, Value::integer(next().integer));
  auto item = std::make_unique<SubscriptExpr>(line, std::move(object), std::move(index));
  adopt(*item, item->object);
  return item;
}

ExprPtr ExpressionParser::parse_subscript(ExprPtr object) {
  const int line = next().line;
  auto slice = std::make_unique<SliceExpr>(line);
  Exprs items;
  bool is_slice = false;
  while (!is_operator("]")) {
    if (!items.empty()) expect_operator(",");
    if (!is_operator(":")) items.push_back(parse_expression());
    if (skip_operator(":")) {
      if (items.size() > 1 || is_slice) fail_at(line, "several slices in one subscript are not supported");
      is_slice = true;
      if (!items.empty()) slice->start = std::move(items.front());
      items.clear();
      if (!is_operator(":") && !is_operator("]") && !is_operator(",")) slice->stop = parse_expression();
      if (skip_operator(":") && !is_operator("]") && !is_operator(",")) slice->step = parse_expression();
      if (!is_operator("]")) fail_at(line, "several slices in one subscript are not supported");
    }
  }
  next();
  if (is_slice) {
    slice->object = std::move(object);
    for (const ExprPtr* part : {&slice->object, &slice->start, &slice->stop, &slice->step}) adopt(*slice, *part);
    return slice;
  }
  ExprPtr index;
  if (items.size() == 1) {
    index = std::move(items.front());
  } else {
    auto tuple = std::make_unique<ItemsExpr>(ExprKind::kTuple, line, std::move(items));
    for (const ExprPtr& item : tuple->items) adopt(*tuple, item);
    index = std::move(tuple);
  }
  auto item = std::make_unique<SubscriptExpr>(line, std::move(object), std::move(index));
  adopt(*item, item->object);
  adopt(*item, item->index);
  return item;
}

Arguments ExpressionParser::parse_arguments() {
  const int line = current().line;
  expect_operator("(");
  Arguments arguments;
  bool first = true;
  const auto ensure = [&](bool valid) {
    if (!valid) fail_at(line, "invalid syntax for function call expression");
  };
  while (!is_operator(")")) {
    if (!first) {
      expect_operator(",");
      if (is_operator(")")) break;
    }
    first = false;
    if (skip_operator("*")) {
      ensure(arguments.star == nullptr && arguments.star_star == nullptr);
      arguments.star = parse_expression();
    } else if (skip_operator("**")) {
      ensure(arguments.star_star == nullptr);
      arguments.star_star = parse_expression();
    } else if (current().kind == TokenKind::kName && ahead().kind == TokenKind::kOperator && ahead().text == "=") {
      ensure(arguments.star_star == nullptr);
      std::string name = next().text;
      next();
      for (const auto& [other, value] : arguments.keyword) {
        if (other == name) fail_at(line, "keyword argument repeated: " + name);
      }
      arguments.keyword.emplace_back(std::move(name), parse_expression());
    } else {
      ensure(arguments.star == nullptr && arguments.star_star == nullptr && arguments.keyword.empty());
      arguments.positional.push_back(parse_expression());
    }
  }
  expect_operator(")");
  return arguments;
}

ExprPtr ExpressionParser::parse_call(ExprPtr callee) {
  const int line = current().line;
  auto call = std::make_unique<CallExpr>(line, std::move(callee), parse_arguments());
  adopt(*call, call->callee);
  adopt(*call, call->arguments);
  return call;
}

ExprPtr ExpressionParser::parse_filter_here(ExprPtr input) {
  const int line = current().line;
  std::string name = expect_name();
  while (skip_operator(".")) name += "." + expect_name();
  auto filter = std::make_unique<FilterExpr>(line, std::move(input), std::move(name));
  if (is_operator("(")) filter->arguments = parse_arguments();
  adopt(*filter, filter->input);
  adopt(*filter, filter->arguments);
  return filter;
}

ExprPtr ExpressionParser::parse_filters(ExprPtr input, bool first_without_bar) {
  if (first_without_bar) input = parse_filter_here(std::move(input));
  while (skip_operator("|")) input = parse_filter_here(std::move(input));
  return input;
}

ExprPtr ExpressionParser::parse_test(ExprPtr input) {
  const int line = next().line;
  const bool negated = skip_name("not");
  std::string name = expect_name();
  while (skip_operator(".")) name += "." + expect_name();
  auto test = std::make_unique<TestExpr>(line, std::move(input), std::move(name));
  const TokenKind kind = current().kind;
  const bool literal = kind == TokenKind::kName || kind == TokenKind::kString || kind == TokenKind::kInteger ||
                       kind == TokenKind::kFloat || is_operator("[") || is_operator("{");
  if (is_operator("(")) {
    test->arguments = parse_arguments();
  } else if (literal && !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) fail_at(line, "tests can't be chained with 'is'");
    test->arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  adopt(*test, test->input);
  adopt(*test, test->arguments);
  if (!negated) return test;
  auto inverse = std::make_unique<UnaryExpr>(line, UnaryExpr::Op::kNot, std::move(test));
  adopt(*inverse, inverse->operand);
  return inverse;
}

}  // namespace qwick::jinja
