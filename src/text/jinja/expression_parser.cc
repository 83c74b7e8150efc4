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
      return fmt::format("'{}'", token.text);
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
  if (!skip_operator(op)) fail_unexpected(fmt::format("'{}'", op).c_str());
}

void ExpressionParser::expect(TokenKind kind, const char* what) {
  if (current().kind != kind) fail_unexpected(what);
  next();
}

void ExpressionParser::fail_at(int line, const std::string& message) const {
  fail(ErrorCode::kUnsupported, "{}, line {}: {}", name_, line, message);
}

void ExpressionParser::fail_unexpected(const char* expected) const {
  if (expected == nullptr) fail_at(current().line, fmt::format("unexpected {}", describe(current())));
  fail_at(current().line, fmt::format("expected {}, got {}", expected, describe(current())));
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
    const auto* known = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [&](const auto& op) { return is_operator(op.first); });
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

ExprPtr ExpressionParser::parse_binary(
    ExprPtr (ExpressionParser::*operand)(),
    std::initializer_list<std::pair<std::string_view, BinaryOp>> operators) {
  const int line = current().line;
  ExprPtr left = (this->*operand)();
  while (true) {
    const auto* op =
        std::find_if(operators.begin(), operators.end(), [&](const auto& x) { return is_operator(x.first); });
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
  return parse_binary(
      &ExpressionParser::parse_power,
      {{"*", BinaryOp::kMul}, {"/", BinaryOp::kDiv}, {"//", BinaryOp::kFloorDiv}, {"%", BinaryOp::kMod}});
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

}  // namespace qwick::jinja
