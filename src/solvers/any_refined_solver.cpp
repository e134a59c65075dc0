#include "heddle/runtime/any_refined_solver.hpp"

#include <type_traits>
#include <utility>

#include "any_preconditioner.hpp"
#include "any_views.hpp"
#include "heddle/operator.hpp"
#include "heddle/refined_solver.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "operator_in_floats.hpp"

namespace heddle {

namespace {

const detail::SlicedOperator<double>& in_doubles(const AnyOperator& matrix) {
  return matrix.visit(
      []<class S>(const detail::SlicedOperator<S>& A) -> const detail::SlicedOperator<double>& {
        if constexpr (std::is_same_v<S, double>) {
          return A;
        } else {
          throw Error(ErrorKind::unsupported,
                      "fields in single precision are of a solve in double precision");
        }
      });
}

/// Without values yet.
detail::SlicedOperator<float> in_floats(const detail::SlicedOperator<double>& A,
                                        const AnyEntry& entry) {
  const auto table =
      entry.definition()
          ? detail::defined_entry_table<float>(entry.definition())
          : visit_entry<float>(entry.kind(), []<class E>() { return detail::entry_table<E>(); });
  return detail::operator_in_floats(A, table);
}

}  // namespace

AnyRefinedSolver::AnyRefinedSolver(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                                   std::shared_ptr<KrylovSolver<double>> wide)
    : matrix_(in_doubles(matrix)), in_floats_(in_floats(matrix_, matrix.entry())) {
  refresh();
  solver_ = std::make_unique<RefinedSolver>(
      in_floats_, make_preconditioner<float>(in_floats_, preconditioner), std::move(wide));
}

AnyRefinedSolver::AnyRefinedSolver(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                                   std::shared_ptr<AnySolver> own)
    : AnyRefinedSolver(matrix, preconditioner,
                       std::shared_ptr<KrylovSolver<double>>(own, &own->solver<double>())) {
  own_ = std::move(own);
}

AnyRefinedSolver::AnyRefinedSolver(const AnyOperator& matrix, const MethodInfo& method,
                                   const ComposedChoice& preconditioner,
                                   const SolverOptions& options)
    : AnyRefinedSolver(matrix, preconditioner,
                       (in_doubles(matrix),
                        std::make_shared<AnySolver>(matrix, method, preconditioner, options))) {}

AnyRefinedSolver::AnyRefinedSolver(AnyRefinedSolver&&) noexcept = default;
AnyRefinedSolver& AnyRefinedSolver::operator=(AnyRefinedSolver&&) noexcept = default;
AnyRefinedSolver::~AnyRefinedSolver() = default;

const std::vector<double>& AnyRefinedSolver::history(std::size_t system) const {
  return solver_->history(system);
}

void AnyRefinedSolver::set_null_space(const std::vector<FieldView<const double>>& vectors) {
  solver_->set_null_space(vectors);
}

void AnyRefinedSolver::refresh() {
  if (generation_ == matrix_.generation()) return;
  detail::round_values(matrix_, in_floats_);
  generation_ = matrix_.generation();
}

long long AnyRefinedSolver::matrix_memory() const { return detail::bytes_of_values(in_floats_); }

Report AnyRefinedSolver::solve(const FieldView<const double>& b, const FieldView<double>& x) {
  refresh();
  return solver_->solve(b, x);
}

std::vector<Report> AnyRefinedSolver::solve(std::span<const FieldView<const double>> b,
                                            std::span<const FieldView<double>> x) {
  refresh();
  return solver_->solve(b, x);
}

std::vector<Report> AnyRefinedSolver::solve(std::span<const AnyField> b, std::span<AnyField> x) {
  return solve(std::span<const FieldView<const double>>(views_of<double>(b)),
               std::span<const FieldView<double>>(views_of<double>(x)));
}

}  // namespace heddle
