#include "formula_builder.hpp"

#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {

int FormulaBuilder::append(const Instruction& instruction) {
  const auto [at, is_new] = known_.try_emplace(
      {instruction.operation, instruction.left, instruction.right, instruction.number},
      static_cast<int>(formula_.instructions.size()));
  if (is_new) {
    if (formula_.instructions.size() == max_instructions) {
      throw Error(ErrorKind::malformed_file, "the operator takes more than " +
                                                 std::to_string(max_instructions) +
                                                 " operations on real numbers; simplify it");
    }
    formula_.instructions.push_back(instruction);
  }
  return at->second;
}

Value FormulaBuilder::number(double value) {
  return {append({Operation::number, 0, 0, value}), Value::none};
}

Value FormulaBuilder::operand(Operation which, int component, bool is_complex) {
  const int re = append({which, component});
  return {re, is_complex ? append({which, component + 1}) : Value::none};
}

Value FormulaBuilder::negate(Value a) {
  const int re = append({Operation::negate, a.re});
  return {re, a.is_complex() ? append({Operation::negate, a.im}) : Value::none};
}

Value FormulaBuilder::conjugate(Value a) {
  return {a.re, a.is_complex() ? append({Operation::negate, a.im}) : Value::none};
}

Value FormulaBuilder::add(Value a, Value b) {
  const int re = binary(Operation::add, a.re, b.re);
  if (a.is_complex() && b.is_complex()) return {re, binary(Operation::add, a.im, b.im)};
  return {re, a.is_complex() ? a.im : b.im};
}

Value FormulaBuilder::subtract(Value a, Value b) {
  const int re = binary(Operation::subtract, a.re, b.re);
  if (!b.is_complex()) return {re, a.im};
  return {re, a.is_complex() ? binary(Operation::subtract, a.im, b.im)
                             : append({Operation::negate, b.im})};
}

Value FormulaBuilder::multiply(Value a, Value b) {
  const auto product = [&](int l, int r) { return binary(Operation::multiply, l, r); };
  const int re = product(a.re, b.re);
  if (!a.is_complex() && !b.is_complex()) return {re, Value::none};
  if (!a.is_complex()) return {re, product(a.re, b.im)};
  if (!b.is_complex()) return {re, product(a.im, b.re)};
  // In separate statements: the order of instructions must not depend on the compiler.
  const int below = product(a.im, b.im);
  const int outer = product(a.re, b.im);
  const int inner = product(a.im, b.re);
  const int difference = binary(Operation::subtract, re, below);
  return {difference, binary(Operation::add, outer, inner)};
}

Value FormulaBuilder::divide(Value a, Value b) {
  if (b.is_complex()) {
    const Value above = multiply(a, conjugate(b));
    const int re_squared = binary(Operation::multiply, b.re, b.re);
    const int im_squared = binary(Operation::multiply, b.im, b.im);
    const int squares = binary(Operation::add, re_squared, im_squared);
    return divide(above, {squares, Value::none});
  }
  const int re = binary(Operation::divide, a.re, b.re);
  return {re, a.is_complex() ? binary(Operation::divide, a.im, b.re) : Value::none};
}

void FormulaBuilder::store(Value value, bool as_complex) {
  formula_.results.push_back(value.re);
  if (as_complex) formula_.results.push_back(value.is_complex() ? value.im : number(0).re);
}

}  // namespace heddle::detail
