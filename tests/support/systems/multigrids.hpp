// Multigrid on fields of an entry type, and conjugate gradient with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"

namespace heddle::test {

template <class E>
using Candidates = std::vector<Field<E>>;

template <class E>
Multigrid<vector_scalar_t<E>> make_multigrid(const Operator<E>& A, const MultigridOptions& options,
                                             const Candidates<E>& candidates = {}) {
  std::vector<FieldView<const vector_scalar_t<E>>> views;
  for (const Field<E>& field : candidates) views.push_back(field.view());
  return Multigrid<vector_scalar_t<E>>(A, options, views);
}

/// Iterations of a solve that converges.
template <class E>
long long iterations_with(const Operator<E>& A, const Field<E>& b, const MultigridOptions& options,
                          const Candidates<E>& candidates = {}, const SolverOptions& until = {}) {
  ConjugateGradient<vector_scalar_t<E>> solver(A, make_multigrid(A, options, candidates), until);
  Field<E> x(A.rows());
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return report.iterations;
}

/// The rigid body motions of the mesh's free vertices.
inline Candidates<block<double, 3, 3>> motions_of(const TetrahedronMesh& mesh) {
  Candidates<block<double, 3, 3>> candidates;
  const auto free = static_cast<std::size_t>(mesh.free_vertices);
  for (const auto& mode : rigid_body_modes<double>(std::span(mesh.position.data(), free))) {
    auto& field = candidates.emplace_back(static_cast<Index>(free));
    std::copy(mode.begin(), mode.end(), field.scalars().begin());
  }
  return candidates;
}

}  // namespace heddle::test
