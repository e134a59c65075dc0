#include "heddle/runtime/any_solver.hpp"

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
#include "listed_solver.hpp"
#include "make_preconditioner.hpp"
#include "refined_over_floats.hpp"
#include "solvers/krylov/method_rows.hpp"

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
  throw Error(
      ErrorKind::unsupported,
      "block conjugate gradient has neither fields in single precision nor solves in stream order; "
      "use another method");
}

AnySolver::AnySolver(const AnyLinearOperator& matrix, const MethodInfo& method,
                     const ComposedChoice& preconditioner, const SolverOptions& options,
                     double shift)
    : parts_(matrix.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(parts_) {
            const auto solved = shifted_or_same<S>(A, shift);
            return make<S>(solved, method, make_preconditioner<S>(solved, preconditioner, facts_),
                           options);
          })) {}

void AnySolver::refine(const AnyOperator& matrix, const ComposedChoice& preconditioner) {
  auto* const wide = std::get_if<Parts<double>>(&parts_);
  if (wide == nullptr) {
    throw Error(ErrorKind::unsupported,
                "fields in single precision need a solve in double precision");
  }
  if (wide->krylov == nullptr) refuse_block();
  // `wide` and `refined` share the solver over doubles.
  auto refined = std::make_shared<detail::RefinedOverFloats>(
      matrix, preconditioner, std::shared_ptr<KrylovSolver<double>>(wide->system, wide->krylov));
  narrow_memory_ = refined->matrix_memory();
  is_refined_ = true;
  wide->system = std::move(refined);
}

// NOLINTNEXTLINE(readability-make-member-function-const): the solver pointed to changes
Report AnySolver::solve(const AnyField& b, AnyField& x) {
  return visit(
      [&]<class S>(SystemSolver<S>& solver) { return solver.solve(b.view<S>(), x.view<S>()); });
}

// NOLINTNEXTLINE(readability-make-member-function-const): as above
std::vector<Report> AnySolver::solve(std::span<const AnyField> b, std::span<AnyField> x) {
  return visit([&]<class S>(SystemSolver<S>& solver) {
    return solver.solve(std::span<const FieldView<const S>>(views_of<S>(b)),
                        std::span<const FieldView<S>>(views_of<S>(x)));
  });
}

const SolverOptions& AnySolver::options() const {
  return visit([](const auto& solver) -> const auto& { return solver.options(); });
}
// NOLINTNEXTLINE(readability-make-member-function-const): as above
void AnySolver::set_options(SolverOptions options) {
  visit([&](auto& solver) { solver.set_options(std::move(options)); });
}

const std::vector<double>& AnySolver::history(std::size_t system) const {
  return visit([&](const auto& solver) -> const auto& { return solver.history(system); });
}

}  // namespace heddle
