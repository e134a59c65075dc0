#include "heddle/runtime/any_solver.hpp"

#include "any_preconditioner.hpp"
#include "any_views.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/bicgstab2.hpp"
#include "heddle/chebyshev_iteration.hpp"
#include "heddle/complex_symmetric.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/gmres.hpp"
#include "heddle/minres.hpp"
#include "heddle/multiply.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "listed_solver.hpp"
#include "method_rows.hpp"
#include "operator_field.hpp"

namespace heddle {

template <class S>
std::unique_ptr<KrylovSolver<S>> listed_solver(const MethodInfo& method,
                                               OperatorReference<S> matrix,
                                               std::shared_ptr<Preconditioner<S>> preconditioner,
                                               const SolverOptions& options) {
  std::unique_ptr<KrylovSolver<S>> solver;
  const auto take = [&]<template <class> class Solver>(const MethodInfo& row) {
    if (row.name != method.name) return;
    solver = std::make_unique<Solver<S>>(matrix, std::move(preconditioner), options);
  };
  take.template operator()<ConjugateGradient>(method_rows::conjugate_gradient);
  take.template operator()<BiCGStab>(method_rows::bicgstab);
  take.template operator()<BiCGStab2>(method_rows::bicgstab2);
  take.template operator()<Minres>(method_rows::minres);
  take.template operator()<Gmres>(method_rows::gmres);
  take.template operator()<Fgmres>(method_rows::fgmres);
  take.template operator()<Cocg>(method_rows::cocg);
  take.template operator()<Cocr>(method_rows::cocr);
  take.template operator()<ConjugateResidual>(method_rows::conjugate_residual);
  take.template operator()<ChebyshevIteration>(method_rows::chebyshev_iteration);
  take.template operator()<Richardson>(method_rows::richardson);
  if (!solver) throw Error(ErrorKind::internal, std::string(method.name) + " has no solver");
  return solver;
}
template std::unique_ptr<KrylovSolver<float>> listed_solver(const MethodInfo&,
                                                            OperatorReference<float>,
                                                            std::shared_ptr<Preconditioner<float>>,
                                                            const SolverOptions&);
template std::unique_ptr<KrylovSolver<double>> listed_solver(
    const MethodInfo&, OperatorReference<double>, std::shared_ptr<Preconditioner<double>>,
    const SolverOptions&);

namespace {

template <class S>
std::unique_ptr<KrylovSolver<S>> solver_of(const MatrixInParts<S>& parts, const MethodInfo& method,
                                           const ComposedChoice& choice,
                                           const SolverOptions& options, double shift,
                                           MultigridReporter& reporter) {
  PreconditionedSystem<S> system(parts, choice, shift, reporter);
  return listed_solver<S>(method, system.matrix, std::move(system.preconditioner), options);
}

}  // namespace

detail::AnyEntryTable detail::entry_table_of(const AnyMatrix& matrix) {
  if (matrix.is_defined()) {
    return matrix.visit_defined([]<class S>(const DefinedMatrix<S>& m) -> AnyEntryTable {
      return defined_entry_table<S>(m.definition());
    });
  }
  return matrix.visit(
      []<class E>(const CsrMatrix<E>&) -> AnyEntryTable { return entry_table<E>(); });
}

AnyOperator::AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device)
    : entry_(matrix.entry()),
      matrix_(std::visit(
          [&]<class S>(const std::shared_ptr<const detail::EntryTable<S>>& entry) -> Matrix {
            detail::SlicedOperator<S> built(entry, matrix.pattern(), row_major, plan, device);
            built.update_values(matrix.values());
            return built;
          },
          detail::entry_table_of(matrix))) {}

AnyOperator AnyOperator::scheduled(const Plan& plan) const {
  return visit([&](const auto& A) { return AnyOperator(entry_, A.scheduled(plan)); });
}

AnyField AnyOperator::row_field() const {
  return visit([&](const auto& A) {
    return AnyField(A.rows(), A.row_components(), precision(), A.device());
  });
}
AnyField AnyOperator::column_field() const {
  return visit([&](const auto& A) {
    return AnyField(A.columns(), A.column_components(), precision(), A.device());
  });
}

void AnyOperator::apply(const AnyField& x, AnyField& y) const {
  visit([&]<class S>(const detail::SlicedOperator<S>& A) {
    const Device device = A.device();
    const Stream& stream = device.stream();
    const detail::OperatorField<S> in = detail::column_field_of(A), out = detail::row_field_of(A);
    permute<S>(x.view<S>(), in.view, S(1), stream);
    A.apply(S(1), in.view, S(0), out.view, stream);
    permute<S>(out.view, y.view<S>(), S(1), stream);
    device.synchronize();
  });
}

AnySolver::AnySolver(const AnyOperator& matrix, const MethodInfo& method,
                     const ComposedChoice& preconditioner, const SolverOptions& options,
                     double shift)
    : solver_(matrix.visit([&]<class S>(const detail::SlicedOperator<S>& A) -> decltype(solver_) {
        return solver_of<S>(A, method, preconditioner, options, shift, multigrid_);
      })) {}

AnySolver::AnySolver(const AnyLinearOperator& matrix, const AnyOperator& entries,
                     const MethodInfo& method, const ComposedChoice& preconditioner,
                     const SolverOptions& options, double shift)
    : solver_(matrix.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(solver_) {
            return entries.visit(
                [&]<class T>(const detail::SlicedOperator<T>& D) -> decltype(solver_) {
                  if constexpr (std::is_same_v<S, T>) {
                    return solver_of<S>({OperatorReference<S>(A), D}, method, preconditioner,
                                        options, shift, multigrid_);
                  } else {
                    detail::refuse_precision(entries.precision());
                  }
                });
          })) {}

AnyField AnyLinearOperator::row_field() const {
  return visit([&](const auto& A) {
    return AnyField(A->rows(), A->row_components(), precision(), A->device());
  });
}
AnyField AnyLinearOperator::column_field() const {
  return visit([&](const auto& A) {
    return AnyField(A->columns(), A->column_components(), precision(), A->device());
  });
}

void AnyLinearOperator::apply(const AnyField& x, AnyField& y) const {
  visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) {
    multiply<S>(*A, x.view<S>(), y.view<S>());
    A->device().synchronize();
  });
}

Report AnySolver::solve(const AnyField& b, AnyField& x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<KrylovSolver<S>>& solver) {
        return solver->solve(b.view<S>(), x.view<S>());
      },
      solver_);
}

std::vector<Report> AnySolver::solve(std::span<const AnyField> b, std::span<AnyField> x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<KrylovSolver<S>>& solver) {
        return solver->solve(views_of<S>(b), views_of<S>(x));
      },
      solver_);
}

const std::vector<double>& AnySolver::history(std::size_t system) const {
  return std::visit([&](const auto& solver) -> const auto& { return solver->history(system); },
                    solver_);
}

}  // namespace heddle
