// Arithmetic on the components of one or two operands as a flat list of instructions. Expressions
// of an entry definition are parsed into it, printed from it, and run by it.
#pragma once

#include <cstddef>
#include <vector>

#include "heddle/export.hpp"

namespace heddle {

enum class Operation { number, first, second, negate, add, subtract, multiply, divide };

/// `left` and `right` are earlier instructions; for a `first` or `second` operand, `left` is the
/// component.
struct HEDDLE_EXPORT Instruction {
  Operation operation = Operation::number;
  int left = 0;
  int right = 0;
  double number = 0;

  bool operator==(const Instruction&) const = default;
};

/// Every instruction has its own register; `results` names the register of each component.
struct HEDDLE_EXPORT Formula {
  std::vector<Instruction> instructions;
  std::vector<int> results;

  bool empty() const { return results.empty(); }
};

/// Computes `result[i]` from the operands, in T. `second` may be null if no instruction reads it.
/// `registers` is scratch; callers that evaluate often keep it.
template <class T>
void evaluate(const Formula& formula, const T* first, const T* second, T* result,
              std::vector<T>& registers) {
  const std::size_t count = formula.instructions.size();
  if (registers.size() < count) registers.resize(count);
  T* const r = registers.data();
  for (std::size_t i = 0; i < count; ++i) {
    const Instruction& at = formula.instructions[i];
    switch (at.operation) {
      case Operation::number:
        r[i] = static_cast<T>(at.number);
        break;
      case Operation::first:
        r[i] = first[at.left];
        break;
      case Operation::second:
        r[i] = second[at.left];
        break;
      case Operation::negate:
        r[i] = -r[at.left];
        break;
      case Operation::add:
        r[i] = r[at.left] + r[at.right];
        break;
      case Operation::subtract:
        r[i] = r[at.left] - r[at.right];
        break;
      case Operation::multiply:
        r[i] = r[at.left] * r[at.right];
        break;
      case Operation::divide:
        r[i] = r[at.left] / r[at.right];
        break;
    }
  }
  for (std::size_t i = 0; i < formula.results.size(); ++i) result[i] = r[formula.results[i]];
}

}  // namespace heddle
