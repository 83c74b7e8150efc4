// Expressions: evaluating the syntax tree.
#include <fmt/core.h>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/depth.h"
#include "text/jinja/runtime.h"

namespace qwick::jinja {

Value Runtime::eval(const Expr& expr, Frame& frame) {
  const Depth depth(*this);
  budget_.step();
  line_ = expr.line;
  switch (expr.kind) {
    case ExprKind::kConst:
      return static_cast<const ConstExpr&>(expr).value;
    case ExprKind::kName:
      return eval_name(static_cast<const NameExpr&>(expr), frame);
    case ExprKind::kAttribute: {
      const auto& attribute = static_cast<const AttributeExpr&>(expr);
      return get_attribute(*this, eval(*attribute.object, frame), attribute.name);
    }
    case ExprKind::kSubscript: {
      const auto& item = static_cast<const SubscriptExpr&>(expr);
      const Value object = eval(*item.object, frame);
      return get_item(*this, object, eval(*item.index, frame));
    }
    case ExprKind::kSlice:
      return eval_slice(static_cast<const SliceExpr&>(expr), frame);
    case ExprKind::kCall:
      return eval_call(static_cast<const CallExpr&>(expr), frame);
    case ExprKind::kFilter:
      return eval_filter(static_cast<const FilterExpr&>(expr), frame);
    case ExprKind::kTest:
      return eval_test(static_cast<const TestExpr&>(expr), frame);
    case ExprKind::kUnary:
      return eval_unary(static_cast<const UnaryExpr&>(expr), frame);
    case ExprKind::kBinary:
      return eval_binary(static_cast<const BinaryExpr&>(expr), frame);
    case ExprKind::kLogic: {
      const auto& logic = static_cast<const LogicExpr&>(expr);
      Value left = eval(*logic.left, frame);
      return truth(left) == logic.is_and ? eval(*logic.right, frame) : left;
    }
    case ExprKind::kCompare:
      return eval_compare(static_cast<const CompareExpr&>(expr), frame);
    case ExprKind::kConcat:
      return eval_concat(static_cast<const ItemsExpr&>(expr), frame);
    case ExprKind::kCondition:
      return eval_condition(static_cast<const ConditionExpr&>(expr), frame);
    case ExprKind::kList:
      return Value::list(eval_all(static_cast<const ItemsExpr&>(expr).items, frame));
    case ExprKind::kTuple:
      return Value::tuple(eval_all(static_cast<const ItemsExpr&>(expr).items, frame));
    case ExprKind::kDict:
      return eval_dict(static_cast<const DictExpr&>(expr), frame);
    case ExprKind::kNamespaceRef:
      break;  // only a target
  }
  return Value::none();
}

Value Runtime::eval_name(const NameExpr& expr, Frame& frame) {
  const Value& value = at(expr.slot, frame);
  return value.is_missing() ? Value::undefined(expr.name) : value;
}

Value Runtime::eval_slice(const SliceExpr& expr, Frame& frame) {
  const auto part = [&](const ExprPtr& e) { return e ? eval(*e, frame) : Value(); };
  const Value object = eval(*expr.object, frame);
  const Value start = part(expr.start);
  const Value stop = part(expr.stop);
  return slice(budget_, object, start, stop, part(expr.step));
}

Values Runtime::eval_all(const Exprs& exprs, Frame& frame) {
  Values values;
  values.reserve(exprs.size());
  budget_.bytes(exprs.size() * sizeof(Value));
  for (const ExprPtr& expr : exprs) values.push_back(eval(*expr, frame));
  return values;
}

Args Runtime::eval_arguments(const Arguments& arguments, Frame& frame) {
  Args args;
  args.positional = eval_all(arguments.positional, frame);
  if (arguments.star) {
    Values more = to_values(budget_, eval(*arguments.star, frame));
    args.positional.insert(args.positional.end(), more.begin(), more.end());
  }
  for (const auto& [name, value] : arguments.keyword) args.keyword.emplace_back(name, eval(*value, frame));
  if (!arguments.star_star) return args;
  const Value more = eval(*arguments.star_star, frame);
  if (!more.is(Type::kDict)) throw TemplateError("argument after ** must be a mapping");
  for (const auto& [key, value] : more.dict().entries) {
    if (!key.is_string()) throw TemplateError("keywords must be strings");
    for (const auto& [name, other] : arguments.keyword) {
      if (name == key.text()) throw TemplateError("got multiple values for keyword argument '" + name + "'");
    }
    args.keyword.emplace_back(key.text(), value);
  }
  return args;
}

Value Runtime::eval_call(const CallExpr& expr, Frame& frame, Value caller) {
  Value callee;
  Value self;
  MethodFunction method = nullptr;
  if (expr.callee->kind == ExprKind::kAttribute) {
    // The common case, text.strip(): no method object is made.
    const auto& attribute = static_cast<const AttributeExpr&>(*expr.callee);
    self = eval(*attribute.object, frame);
    method = find_method(self, attribute.name);
    if (method == nullptr) callee = get_attribute(*this, self, attribute.name);
  } else {
    callee = eval(*expr.callee, frame);
  }
  Args args = eval_arguments(expr.arguments, frame);
  if (!caller.is_missing()) args.keyword.emplace_back("caller", std::move(caller));
  line_ = expr.line;
  return method != nullptr ? method(*this, self, std::move(args)) : call(callee, std::move(args));
}

Value Runtime::call(const Value& callee, Args args) {
  const Depth depth(*this);
  budget_.step();
  if (callee.is_undefined()) throw TemplateError(undefined_message(callee));
  if (!callee.is(Type::kNative) || !callee.native().callable()) {
    throw TemplateError(fmt::format("'{}' object is not callable", type_name(callee)));
  }
  return callee.native().call(*this, std::move(args));
}

Value Runtime::eval_filter(const FilterExpr& expr, Frame& frame) {
  const Value input = expr.input ? eval(*expr.input, frame) : make_string(std::move(block_text_));
  Args args = eval_arguments(expr.arguments, frame);
  line_ = expr.line;
  if (expr.function == nullptr) throw TemplateError("no filter named '" + expr.name + "'");
  return expr.function(*this, input, std::move(args));
}

Value Runtime::eval_test(const TestExpr& expr, Frame& frame) {
  const Value input = eval(*expr.input, frame);
  Args args = eval_arguments(expr.arguments, frame);
  line_ = expr.line;
  if (expr.function == nullptr) throw TemplateError("no test named '" + expr.name + "'");
  return Value::boolean(expr.function(*this, input, std::move(args)));
}

Value Runtime::eval_unary(const UnaryExpr& expr, Frame& frame) {
  const Value operand = eval(*expr.operand, frame);
  switch (expr.op) {
    case UnaryExpr::Op::kNot:
      return Value::boolean(!truth(operand));
    case UnaryExpr::Op::kNegate:
      return negate(operand);
    case UnaryExpr::Op::kPositive:
      return positive(operand);
  }
  return {};
}

Value Runtime::eval_binary(const BinaryExpr& expr, Frame& frame) {
  Value left = eval(*expr.left, frame);
  const Value right = eval(*expr.right, frame);
  return apply_binary(budget_, expr.op, std::move(left), right);
}

Value Runtime::eval_compare(const CompareExpr& expr, Frame& frame) {
  Value left = eval(*expr.first, frame);
  for (const auto& [op, operand] : expr.rest) {
    Value right = eval(*operand, frame);
    if (!apply_compare(budget_, op, left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Runtime::eval_concat(const ItemsExpr& expr, Frame& frame) {
  Values parts = eval_all(expr.items, frame);
  std::string text;
  for (const Value& part : parts) {
    const std::string more = to_text(budget_, part);
    budget_.bytes(more.size());
    text += more;
  }
  return Value::string(std::move(text));
}

Value Runtime::eval_condition(const ConditionExpr& expr, Frame& frame) {
  if (truth(eval(*expr.test, frame))) return eval(*expr.yes, frame);
  if (expr.no) return eval(*expr.no, frame);
  return Value::undefined_hint(fmt::format(
      "the inline if-expression on line {} evaluated to false and no else section was defined.", expr.line));
}

Value Runtime::eval_dict(const DictExpr& expr, Frame& frame) {
  auto dict = std::make_shared<DictObject>();
  for (const auto& [key, value] : expr.entries) {
    Value name = eval(*key, frame);
    budget_.bytes(2 * sizeof(Value));
    dict->set(std::move(name), eval(*value, frame));
  }
  return Value::dict(std::move(dict));
}

}  // namespace qwick::jinja
