#include "heddle/runtime/any_solver.hpp"

#include "any_preconditioner.hpp"
#include "any_views.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/bicgstab2.hpp"
#include "heddle/block_conjugate_gradient.hpp"
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
#include "refined_over_floats.hpp"

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

template <class S>
detail::SolverParts<S> AnySolver::make(OperatorReference<S> matrix, const MethodInfo& method,
                                       std::shared_ptr<Preconditioner<S>> preconditioner,
                                       const SolverOptions& options) {
  if (method.name == block_conjugate_gradient_info.name) {
    return {std::make_shared<BlockConjugateGradient<S>>(std::move(matrix),
                                                        std::move(preconditioner), options)};
  }
  std::shared_ptr<KrylovSolver<S>> krylov =
      listed_solver<S>(method, std::move(matrix), std::move(preconditioner), options);
  KrylovSolver<S>* const own = krylov.get();
  return {std::move(krylov), own};
}

template <class S>
AnySolver::AnySolver(OperatorReference<S> matrix, const MethodInfo& method,
                     std::shared_ptr<Preconditioner<S>> preconditioner,
                     const SolverOptions& options)
    : parts_(make<S>(std::move(matrix), method, std::move(preconditioner), options)) {}
template AnySolver::AnySolver(OperatorReference<float>, const MethodInfo&,
                              std::shared_ptr<Preconditioner<float>>, const SolverOptions&);
template AnySolver::AnySolver(OperatorReference<double>, const MethodInfo&,
                              std::shared_ptr<Preconditioner<double>>, const SolverOptions&);

void AnySolver::refuse_block() {
  throw Error(ErrorKind::unsupported, "block conjugate gradient is no solver of the table");
}

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
    : AnySolver(matrix, matrix, method, preconditioner, options, shift) {}

AnySolver::AnySolver(const AnyLinearOperator& matrix, const AnyOperator& entries,
                     const MethodInfo& method, const ComposedChoice& preconditioner,
                     const SolverOptions& options, double shift)
    : parts_(matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A)
                              -> decltype(parts_) {
        return entries.visit([&]<class T>(const detail::SlicedOperator<T>& D) -> decltype(parts_) {
          if constexpr (std::is_same_v<S, T>) {
            PreconditionedSystem<S> system({OperatorReference<S>(A), D}, preconditioner, shift,
                                           multigrid_);
            return make<S>(system.matrix, method, std::move(system.preconditioner), options);
          } else {
            detail::refuse_precision(entries.precision());
          }
        });
      })) {}

void AnySolver::refine(const AnyOperator& matrix, const ComposedChoice& preconditioner) {
  auto* const wide = std::get_if<Parts<double>>(&parts_);
  if (wide == nullptr) {
    throw Error(ErrorKind::unsupported,
                "fields in single precision are of a solve in double precision");
  }
  if (wide->krylov == nullptr) refuse_block();
  // Both own the solver over doubles together.
  auto refined = std::make_shared<detail::RefinedOverFloats>(
      matrix, preconditioner, std::shared_ptr<KrylovSolver<double>>(wide->system, wide->krylov));
  narrow_memory_ = refined->matrix_memory();
  is_refined_ = true;
  wide->system = std::move(refined);
}

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
  return visit(
      [&]<class S>(SystemSolver<S>& solver) { return solver.solve(b.view<S>(), x.view<S>()); });
}

std::vector<Report> AnySolver::solve(std::span<const AnyField> b, std::span<AnyField> x) {
  return visit([&]<class S>(SystemSolver<S>& solver) {
    return solver.solve(std::span<const FieldView<const S>>(views_of<S>(b)),
                        std::span<const FieldView<S>>(views_of<S>(x)));
  });
}

const std::vector<double>& AnySolver::history(std::size_t system) const {
  return visit([&](const auto& solver) -> const auto& { return solver.history(system); });
}

}  // namespace heddle
