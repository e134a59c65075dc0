// Model problems of any size, for demonstrations, tests and measurements: one for each family of
// entries. See docs/reference/problems.md for the equations and what to expect of a solver.
//
// Every matrix depends on its arguments alone: the same bits for any number of threads. Randomness
// is a hash of (seed, place); smooth variation is rational, so that no value depends on a
// mathematical library. `size` is the desired number of rows, 1 to `largest_problem`; the actual
// number is the nearest that the construction allows. Options outside their range throw
// ErrorKind::usage, and a matrix that does not fit in memory throws ErrorKind::memory beforehand.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "heddle/csr.hpp"
#include "heddle/entries.hpp"
#include "heddle/export.hpp"

namespace heddle {

inline constexpr Index largest_problem = 500'000'000;

/// Coordinates x, y, z.
using Point = std::array<double, 3>;

/// A closed surface: corners of each triangle counterclockwise seen from outside.
struct HEDDLE_EXPORT TriangleMesh {
  Array<Point> position;
  Array<std::array<Index, 3>> triangle;
};

/// A solid: corners a, b, c, d of each tetrahedron with det(b - a, c - a, d - a) > 0. The vertices
/// from `free_vertices` on are held fixed.
struct HEDDLE_EXPORT TetrahedronMesh {
  Array<Point> position;
  Array<std::array<Index, 4>> tetrahedron;
  Index free_vertices = 0;
};

struct HEDDLE_EXPORT PoissonOptions {
  /// The coefficient of each cell is uniform in [1 - contrast, 1 + contrast]; 0 <= contrast < 1.
  double contrast = 0.5;
};

/// -div(c grad u) on a box of nearly equal sides, cell-centred finite differences with 7 points,
/// the values one cell outside being 0. Rows lexicographic, x fastest. The coefficient between two
/// cells is the harmonic mean of theirs; with contrast 0 the stencil is 6, -1. Symmetric positive
/// definite.
HEDDLE_EXPORT CsrMatrix<real<double>> poisson(Index size, std::uint64_t seed = 1,
                                              const PoissonOptions& options = {});

struct HEDDLE_EXPORT ElasticityOptions {
  double young = 1;      // Young's modulus, > 0
  double poisson = 0.3;  // Poisson's ratio, 0 <= ratio < 0.5
  /// Irregularity of the mesh, 0 (every inner vertex has 14 neighbours) to 1 (6 to 26, mean 14).
  double irregularity = 0.5;
};

/// A unit box of randomly varied sides and shape in tetrahedra of irregular connectivity: the most
/// prominent corner (by a random height) of each cell of a grid is joined to the opposite faces,
/// and the diagonal of each face starts at that face's most prominent corner, so that cells
/// conform. Vertices are jittered; every tetrahedron has a mean ratio (1 = regular) of at least
/// 0.25. They are numbered along Hilbert's curve, the free ones first, then the clamped face z = 0.
/// `size` counts free vertices, at least 4.
HEDDLE_EXPORT TetrahedronMesh random_solid(Index size, std::uint64_t seed = 1,
                                           double irregularity = 0.5);

/// Stiffness of a linear tetrahedron, blocks [a][b] of its corners a and b (row-major), for an
/// isotropic material: V (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I), g the gradients of
/// the barycentric coordinates. Throws ErrorKind::singular for a volume that is not positive.
HEDDLE_EXPORT std::array<std::array<block<double, 3, 3>, 4>, 4> tetrahedron_stiffness(
    const std::array<Point, 4>& corner, double young, double poisson);

/// Linear elasticity on `mesh`: 3 x 3 blocks, one row per free vertex. Symmetric bit by bit,
/// positive definite if the mesh is connected and has three fixed vertices that are not on a line.
HEDDLE_EXPORT CsrMatrix<block<double, 3, 3>> elasticity(const TetrahedronMesh& mesh,
                                                        const ElasticityOptions& options = {});

/// The same on `random_solid(size, seed)`: 14 to 15 blocks per row on average.
HEDDLE_EXPORT CsrMatrix<block<double, 3, 3>> elasticity(Index size, std::uint64_t seed = 1,
                                                        const ElasticityOptions& options = {});

struct HEDDLE_EXPORT HelmholtzOptions {
  double points_per_wavelength = 10;  // >= 4; the wavenumber is 2 pi / this, per grid spacing
  /// k varies smoothly within [1 - contrast, 1 + contrast] times that; 0 <= contrast < 1.
  double contrast = 0.1;
  /// Absorption by the medium: k^2 becomes k^2 (1 + i damping); >= 0.
  double damping = 0.05;
};

/// -Laplace u - k^2 (1 + i damping) u on a box of nearly equal sides, vertex-centred finite
/// volumes with 7 points, du/dn = i k u on every face (waves leave; time exp(-i w t)). Spacing 1,
/// rows lexicographic, at least 8. Complex symmetric, not Hermitian; never singular.
HEDDLE_EXPORT CsrMatrix<complex<double>> helmholtz(Index size, std::uint64_t seed = 1,
                                                   const HelmholtzOptions& options = {});

struct HEDDLE_EXPORT DiracOptions {
  double potential = 1;  // largest |rho|, the curvature potential, >= 0
  double shift = 4;      // multiple of the lumped mass that is added, > 0
};

/// An icosahedron subdivided f times along each edge, blown up to a sphere and smoothly deformed
/// (radius 0.7 to 1.3): 10 f^2 + 2 vertices, twelve of degree 5, the others 6. Numbered along
/// Hilbert's curve.
HEDDLE_EXPORT TriangleMesh random_surface(Index size, std::uint64_t seed = 1);

/// The squared Dirac operator (D - rho)*(D - rho) + shift M (Crane, Pinkall, Schroeder 2011, "Spin
/// transformations of discrete surfaces") at vertices, with rho one number per triangle and M the
/// lumped mass. A triangle of area A with edge vectors e opposite to its corners, read as imaginary
/// quaternions, adds -e_a e_b / (4A) + rho (e_b - e_a) / 6 + A rho^2 / 9 to entry (a, b). Hermitian
/// bit by bit; positive definite for a positive shift, semidefinite for none. Throws
/// ErrorKind::singular for a triangle without area, out_of_range for a corner that is not a vertex,
/// size_mismatch, not_finite.
HEDDLE_EXPORT CsrMatrix<quaternion<double>> dirac(const TriangleMesh& mesh,
                                                  std::span<const double> potential, double shift);

/// The same under a smooth random potential.
HEDDLE_EXPORT CsrMatrix<quaternion<double>> dirac(const TriangleMesh& mesh, std::uint64_t seed = 1,
                                                  const DiracOptions& options = {});

/// The same on `random_surface(size, seed)`: 7 entries per row, 6 in twelve of them.
HEDDLE_EXPORT CsrMatrix<quaternion<double>> dirac(Index size, std::uint64_t seed = 1,
                                                  const DiracOptions& options = {});

}  // namespace heddle
