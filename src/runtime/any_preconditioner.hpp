// The preconditioners that options name, over sliced storage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/composed_preconditioner.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/detail/preconditioner_maker.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/gmres.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "multigrid_candidates.hpp"

namespace heddle {

/// The matrix of a preconditioner, as an operator, and those of its entries that the preconditioner
/// needs (`needed_entries`) in sliced storage. On ranks these are only the diagonal's: the operator
/// itself sets up what is made from all entries (`PreconditionerMaker`).
template <class S>
struct MatrixInParts {
  OperatorReference<S> matrix;
  const detail::SlicedOperator<S>& entries;

  MatrixInParts(const detail::SlicedOperator<S>& A) : matrix(A), entries(A) {}
  MatrixInParts(const OperatorReference<S>& A, const detail::SlicedOperator<S>& entries_of_A)
      : matrix(A), entries(entries_of_A) {}
};

/// Null for a matrix in sliced storage.
template <class S>
const detail::PreconditionerMaker<S>* maker_of(const MatrixInParts<S>& parts) {
  return dynamic_cast<const detail::PreconditionerMaker<S>*>(&*parts.matrix);
}

template <class S>
std::shared_ptr<Preconditioner<S>> make_jacobi(const MatrixInParts<S>& parts) {
  if (const auto* maker = maker_of(parts)) return maker->jacobi();
  return std::make_shared<detail::SlicedJacobi<S>>(parts.entries);
}

/// Null where entries define no inverse, or a diagonal entry has none.
template <class S>
std::shared_ptr<Preconditioner<S>> make_jacobi_or_none(const MatrixInParts<S>& parts) {
  if (parts.entries.entry().invert_diagonal == nullptr) return nullptr;
  try {
    return make_jacobi(parts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::singular) throw;
    return nullptr;
  }
}

/// `iterations` iterations of a solver with Jacobi.
template <template <class> class Solver, class S>
std::shared_ptr<Preconditioner<S>> make_inner_solver(const MatrixInParts<S>& parts,
                                                     int iterations) {
  SolverOptions options;
  options.max_iterations = options.restart = iterations;
  auto solver = std::make_shared<Solver<S>>(parts.matrix, make_jacobi(parts), std::move(options));
  return std::make_shared<SolverPreconditioner<S>>(std::move(solver));
}

/// Returns the report of a multigrid among the parts; empty if there is none.
using MultigridReporter = std::function<MultigridReport()>;

template <class S>
std::shared_ptr<Preconditioner<S>> make_multigrid(const detail::SlicedOperator<S>& matrix,
                                                  int degree, const MultigridChoice& choice,
                                                  MultigridReporter* reporter) {
  const MultigridOptions options = detail::multigrid_options(degree, choice);
  const auto fields = detail::candidate_fields(matrix, options, choice);
  auto made =
      std::make_shared<Multigrid<S>>(matrix, options, detail::candidate_views(matrix, fields));
  if (reporter != nullptr) {
    *reporter = [known = std::weak_ptr<Multigrid<S>>(made)] {
      const auto there = known.lock();
      return there ? there->report() : MultigridReport{};
    };
  }
  return made;
}

/// A part of all entries of an operator that sets up its own, such as one whose rows ranks share.
template <class S>
std::shared_ptr<Preconditioner<S>> make_part_of(const detail::PreconditionerMaker<S>& maker,
                                                const PreconditionerChoice& choice,
                                                const MultigridChoice& of_multigrid,
                                                MultigridReporter* reporter) {
  if (choice.kind != PreconditionerKind::multigrid) return maker.make_inverse(choice);
  detail::MadeMultigrid<S> made = maker.make_multigrid(choice.number, of_multigrid);
  if (reporter != nullptr) *reporter = std::move(made.report);
  return std::move(made.preconditioner);
}

/// One part, or null for none. Polynomials are of the matrix scaled by Jacobi.
template <class S>
std::shared_ptr<Preconditioner<S>> make_part(const MatrixInParts<S>& parts,
                                             const PreconditionerChoice& choice,
                                             const MultigridChoice& of_multigrid,
                                             MultigridReporter* reporter) {
  const OperatorReference<S>& matrix = parts.matrix;
  const detail::SlicedOperator<S>& entries = parts.entries;
  if (const auto* maker = maker_of(parts); maker && choice.info().entries == NeededEntries::all) {
    return make_part_of(*maker, choice, of_multigrid, reporter);
  }
  const auto jacobi = [&] { return make_jacobi(parts); };
  switch (choice.kind) {
    case PreconditionerKind::automatic:
      return make_jacobi_or_none(parts);
    case PreconditionerKind::none:
      return nullptr;
    case PreconditionerKind::jacobi:
      return jacobi();
    case PreconditionerKind::block_jacobi:
      return std::make_shared<BlockJacobi<S>>(entries, choice.number);
    case PreconditionerKind::chebyshev:
      return std::make_shared<Chebyshev<S>>(matrix, jacobi(),
                                            ChebyshevOptions{.degree = choice.number});
    case PreconditionerKind::neumann:
      return std::make_shared<Neumann<S>>(matrix, jacobi(), choice.number);
    case PreconditionerKind::fsai:
      return std::make_shared<Fsai<S>>(entries, choice.number);
    case PreconditionerKind::isai:
      return std::make_shared<Isai<S>>(entries, choice.number);
    case PreconditionerKind::cr:
      return make_inner_solver<ConjugateResidual>(parts, choice.number);
    case PreconditionerKind::gmres:
      return make_inner_solver<Gmres>(parts, choice.number);
    case PreconditionerKind::multigrid:
      return make_multigrid(entries, choice.number, of_multigrid, reporter);
  }
  return nullptr;
}

/// Like `make_part`, but over an operator that stores nothing: made of products alone, without
/// Jacobi. Null for a kind that needs entries.
template <class S>
std::shared_ptr<Preconditioner<S>> make_part_of_products(const OperatorReference<S>& matrix,
                                                         const PreconditionerChoice& choice) {
  switch (choice.kind) {
    case PreconditionerKind::chebyshev:
      return std::make_shared<Chebyshev<S>>(matrix, ChebyshevOptions{.degree = choice.number});
    case PreconditionerKind::neumann:
      return std::make_shared<Neumann<S>>(matrix, choice.number);
    default:
      return nullptr;
  }
}

/// `make` makes a part. Equal parts, and equal products, become one object, so that a composition
/// that reads the same from both ends is Hermitian. Null for none.
template <class S, class Make>
std::shared_ptr<Preconditioner<S>> compose(const OperatorReference<S>& matrix,
                                           const ComposedChoice& choice, const Make& make) {
  using Shared = std::shared_ptr<Preconditioner<S>>;
  std::vector<std::pair<PreconditionerChoice, Shared>> parts;
  std::vector<std::pair<ComposedChoice::Product, Shared>> products;
  const auto once = [](auto& known, const auto& key, const auto& make_it) {
    for (const auto& [other, made] : known) {
      if (other == key) return made;
    }
    return known.emplace_back(key, make_it(key)).second;
  };
  const auto product_of = [&](const ComposedChoice::Product& product) -> Shared {
    std::vector<Shared> factors;
    for (const auto& part : product) factors.push_back(once(parts, part, make));
    if (factors.size() == 1) return factors.front();
    return std::make_shared<ProductPreconditioner<S>>(matrix, std::move(factors));
  };
  std::vector<Shared> terms;
  for (const auto& product : choice.terms()) terms.push_back(once(products, product, product_of));
  if (terms.size() == 1) return terms.front();
  return std::make_shared<MultiplicativePreconditioner<S>>(matrix, std::move(terms));
}

template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner(const MatrixInParts<S>& parts,
                                                       const ComposedChoice& choice,
                                                       MultigridReporter* reporter = nullptr) {
  return compose<S>(parts.matrix, choice, [&](const PreconditionerChoice& part) {
    return make_part(parts, part, choice.multigrid, reporter);
  });
}
/// Throws `Error` (usage) for a part that needs entries.
template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner_of_products(
    const OperatorReference<S>& matrix, const ComposedChoice& choice) {
  check_needs_no_entries(choice);
  return compose<S>(matrix, choice, [&](const PreconditionerChoice& part) {
    return make_part_of_products<S>(matrix, part);
  });
}

/// A, or A + shift I, which is not stored, and its preconditioner.
template <class S>
struct PreconditionedSystem {
  PreconditionedSystem(const MatrixInParts<S>& parts, const ComposedChoice& choice, double shift,
                       MultigridReporter& reporter)
      : matrix(parts.matrix) {
    if (shift != 0) {
      matrix = ShiftedOperator<S>(parts.matrix, static_cast<S>(shift));
      preconditioner = make_preconditioner_of_products<S>(matrix, choice);
    } else {
      preconditioner = make_preconditioner(parts, choice, &reporter);
    }
  }

  OperatorReference<S> matrix;
  std::shared_ptr<Preconditioner<S>> preconditioner;
};

}  // namespace heddle
