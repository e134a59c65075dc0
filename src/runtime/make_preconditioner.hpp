// Makes the preconditioner that options name.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/composed_preconditioner.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/gmres.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "made_from_entries.hpp"

namespace heddle {

/// Null where entries define no inverse, or a diagonal entry is not finite.
template <class S>
std::shared_ptr<Preconditioner<S>> make_jacobi_or_none(const detail::StoredEntries<S>& entries) {
  if (!entries.has_inverses()) return nullptr;
  try {
    return detail::jacobi_of(entries);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::singular) throw;
    return nullptr;
  }
}

/// `iterations` iterations of a solver with Jacobi.
template <template <class> class Solver, class S>
std::shared_ptr<Preconditioner<S>> make_inner_solver(const OperatorReference<S>& matrix,
                                                     const detail::StoredEntries<S>& entries,
                                                     int iterations) {
  SolverOptions options;
  options.max_iterations = options.restart = iterations;
  auto solver = std::make_shared<Solver<S>>(matrix, detail::jacobi_of(entries), std::move(options));
  return std::make_shared<SolverPreconditioner<S>>(std::move(solver));
}

template <class S>
std::shared_ptr<Preconditioner<S>> make_multigrid(const detail::StoredEntries<S>& entries,
                                                  int degree, const MultigridChoice& choice,
                                                  PreconditionerFacts& facts) {
  detail::MadeMultigrid<S> made = detail::multigrid_of(entries, degree, choice);
  facts.multigrid = std::move(made.report);
  return std::move(made.preconditioner);
}

/// One part, or null for none. Polynomials are of the matrix scaled by Jacobi.
template <class S>
std::shared_ptr<Preconditioner<S>> make_part(const OperatorReference<S>& matrix,
                                             const detail::StoredEntries<S>& entries,
                                             const PreconditionerChoice& choice,
                                             const MultigridChoice& of_multigrid,
                                             PreconditionerFacts& facts) {
  switch (choice.kind) {
    case PreconditionerKind::automatic:
      return make_jacobi_or_none(entries);
    case PreconditionerKind::none:
      return nullptr;
    case PreconditionerKind::jacobi:
      return detail::jacobi_of(entries);
    case PreconditionerKind::chebyshev:
      return std::make_shared<Chebyshev<S>>(matrix, detail::jacobi_of(entries),
                                            ChebyshevOptions{.degree = choice.number});
    case PreconditionerKind::neumann:
      return std::make_shared<Neumann<S>>(matrix, detail::jacobi_of(entries), choice.number);
    case PreconditionerKind::block_jacobi:
    case PreconditionerKind::fsai:
    case PreconditionerKind::isai:
    case PreconditionerKind::direct:
      return detail::inverse_of(entries, choice);
    case PreconditionerKind::cr:
      return make_inner_solver<ConjugateResidual>(matrix, entries, choice.number);
    case PreconditionerKind::gmres:
      return make_inner_solver<Gmres>(matrix, entries, choice.number);
    case PreconditionerKind::multigrid:
      return make_multigrid(entries, choice.number, of_multigrid, facts);
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

/// Throws `Error` (usage) for a part that needs entries if the matrix stores none.
template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner(const OperatorReference<S>& matrix,
                                                       const ComposedChoice& choice,
                                                       PreconditionerFacts& facts) {
  const detail::StoredEntries<S>* const stored = matrix->stored_entries();
  if (stored == nullptr) {
    check_needs_no_entries(choice);
    return compose<S>(matrix, choice, [&](const PreconditionerChoice& part) {
      return make_part_of_products(matrix, part);
    });
  }
  const detail::EntriesOfParts<S> entries(*stored, choice.is_of_all_entries());
  auto made = compose<S>(matrix, choice, [&](const PreconditionerChoice& part) {
    return make_part<S>(matrix, entries, part, choice.multigrid, facts);
  });
  facts.copied_bytes = entries.copied_bytes();
  return made;
}
template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner(const OperatorReference<S>& matrix,
                                                       const ComposedChoice& choice) {
  PreconditionerFacts facts;
  return make_preconditioner(matrix, choice, facts);
}

/// A, or A + shift I, which is not stored.
template <class S>
OperatorReference<S> shifted_or_same(const OperatorReference<S>& matrix, double shift) {
  if (shift == 0) return matrix;
  return ShiftedOperator<S>(matrix, static_cast<S>(shift));
}

}  // namespace heddle
