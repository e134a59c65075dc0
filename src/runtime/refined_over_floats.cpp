#include "refined_over_floats.hpp"

#include <type_traits>
#include <utility>

#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "make_preconditioner.hpp"
#include "solvers/operators/operator_in_floats.hpp"

namespace heddle::detail {

namespace {

const SlicedOperator<double>& in_doubles(const AnyOperator& matrix) {
  return *matrix.visit([]<class S>(const SlicedOperator<S>& A) -> const SlicedOperator<double>* {
    if constexpr (std::is_same_v<S, double>) {
      return &A;
    } else {
      throw Error(ErrorKind::unsupported,
                  "fields in single precision need a solve in double precision");
    }
  });
}

/// The operator in floats, still without values.
SlicedOperator<float> in_floats(const SlicedOperator<double>& A, const AnyEntry& entry) {
  const auto table =
      entry.definition()
          ? defined_entry_table<float>(entry.definition())
          : visit_entry<float>(entry.kind(), []<class E>() { return entry_table<E>(); });
  return operator_in_floats(A, table);
}

}  // namespace

RefinedOverFloats::RefinedOverFloats(const AnyOperator& matrix,
                                     const ComposedChoice& preconditioner,
                                     std::shared_ptr<KrylovSolver<double>> wide)
    : matrix_(in_doubles(matrix)), in_floats_(in_floats(matrix_, matrix.entry())) {
  refresh();
  solver_ = std::make_unique<RefinedSolver>(
      in_floats_, make_preconditioner<float>(in_floats_, preconditioner), std::move(wide));
}

void RefinedOverFloats::refresh() {
  if (generation_ == matrix_.generation()) return;
  round_values(matrix_, in_floats_);
  generation_ = matrix_.generation();
}

long long RefinedOverFloats::matrix_memory() const { return bytes_of_values(in_floats_); }

Report RefinedOverFloats::solve(const FieldView<const double>& b, const FieldView<double>& x) {
  refresh();
  return solver_->solve(b, x);
}

std::vector<Report> RefinedOverFloats::solve(std::span<const FieldView<const double>> b,
                                             std::span<const FieldView<double>> x) {
  refresh();
  return solver_->solve(b, x);
}

}  // namespace heddle::detail
