// Makes formulas of real and complex numbers, with each subexpression once.
#pragma once

#include <map>
#include <tuple>

#include "heddle/runtime/formula.hpp"

namespace heddle::detail {

/// Instructions of a real number, or of both parts of a complex one.
struct Value {
  static constexpr int none = -1;
  int re = none;
  int im = none;

  bool is_complex() const { return im != none; }
};

class FormulaBuilder {
 public:
  /// More than any sensible operator takes: a bound on the work that a file may cause.
  static constexpr std::size_t max_instructions = 4096;

  Value number(double value);
  /// Component `component` of an operand, or two of them as a complex number.
  Value operand(Operation which, int component, bool is_complex);

  Value negate(Value a);
  Value conjugate(Value a);
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b);
  Value divide(Value a, Value b);

  /// The next components of the result; a real value is a complex one without imaginary part.
  void store(Value value, bool as_complex);

  Formula take() { return std::move(formula_); }

 private:
  int append(const Instruction& instruction);
  int binary(Operation operation, int left, int right) { return append({operation, left, right}); }

  Formula formula_;
  std::map<std::tuple<Operation, int, int, double>, int> known_;
};

}  // namespace heddle::detail
