// A surface from its edges: the positions whose edges are nearest to the given ones, by a Poisson
// equation (Crane, Pinkall, Schroeder 2011, section 5.6).
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/krylov_solver.hpp"
#include "quaternions.hpp"
#include "vertex_corners.hpp"

namespace heddle::spin {

/// A real number that acts on the four components of a quaternion: one product for four right-hand
/// sides.
using RealOnQuaternions = real<double, 4>;

/// The cotangent matrix L: positive semidefinite, its null space the constants.
CsrMatrix<RealOnQuaternions> cotangent_matrix(const TriangleMesh& mesh,
                                              const mesh::VertexCorners& corners);

/// The right-hand side for edges e rotated and scaled by lambda: an edge from i to j becomes
/// conj(l) e l, averaged along it with l linear from lambda_i to lambda_j (formula in section 5.5).
/// The sum of the right-hand side is zero to rounding.
Field<RealOnQuaternions> divergence_of_edges(const TriangleMesh& mesh,
                                             const mesh::VertexCorners& corners,
                                             const std::vector<Quaternion>& lambda);

/// Solves L x = divergence by a solver of L, from the guess in x, with constants projected out.
Report integrate_edges(KrylovSolver<double>& solver, const Field<RealOnQuaternions>& divergence,
                       Field<RealOnQuaternions>& x);

}  // namespace heddle::spin
