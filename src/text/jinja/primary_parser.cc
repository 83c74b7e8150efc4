// Parts of expressions: names, literals, tuples and targets, subscripts, calls, filters and tests.
#include <fmt/core.h>

#include <algorithm>

#include "text/jinja/parser.h"

namespace qwick::jinja {

ExprPtr ExpressionParser::parse_name(bool with_namespace) {
  const Token token = next();
  if (token.text == "true" || token.text == "True")
    return std::make_unique<ConstExpr>(token.line, Value::boolean(true));
  if (token.text == "false" || token.text == "False") {
    return std::make_unique<ConstExpr>(token.line, Value::boolean(false));
  }
  if (token.text == "none" || token.text == "None")
    return std::make_unique<ConstExpr>(token.line, Value::none());
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
    for (const ExprPtr* part : {&slice->object, &slice->start, &slice->stop, &slice->step})
      adopt(*slice, *part);
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
    } else if (current().kind == TokenKind::kName && ahead().kind == TokenKind::kOperator &&
               ahead().text == "=") {
      ensure(arguments.star_star == nullptr);
      std::string name = next().text;
      next();
      for (const auto& [other, value] : arguments.keyword) {
        if (other == name) fail_at(line, fmt::format("keyword argument repeated: {}", name));
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
  while (skip_operator(".")) name.append(1, '.').append(expect_name());
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
  while (skip_operator(".")) name.append(1, '.').append(expect_name());
  auto test = std::make_unique<TestExpr>(line, std::move(input), std::move(name));
  const TokenKind kind = current().kind;
  const bool literal = kind == TokenKind::kName || kind == TokenKind::kString ||
                       kind == TokenKind::kInteger || kind == TokenKind::kFloat || is_operator("[") ||
                       is_operator("{");
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
