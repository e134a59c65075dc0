// Kernels of a hierarchy's set-up on a GPU for the rows of setup_rows.hpp. All are only queued.
#pragma once

#include "heddle/device.hpp"
#include "heddle/entries/annotations.hpp"
#include "setup_rows.hpp"

namespace heddle::detail {

/// Infinitesimal motions of a rigid body, at one of its points.
struct RigidMotions {
  int dimension = 3;
  double centre[3] = {};
  double radius = 1;

  /// Number of motions: translations, and rotations in the planes xy, yz and zx.
  HEDDLE_HD constexpr int count() const { return dimension == 2 ? 3 : 6; }
  /// Component c of a motion at a point.
  HEDDLE_HD double at(const double* point, int motion, int c) const {
    if (motion < dimension) return c == motion ? 1 : 0;
    const int from = motion - dimension, to = (from + 1) % 3;
    if (c == from) return -((point[to] - centre[to]) / radius);
    return c == to ? (point[from] - centre[from]) / radius : 0;
  }
};

}  // namespace heddle::detail

namespace heddle::cuda {

/// Candidates: a tile of v x k numbers, of r scalars, for each row.
struct CandidateTiles {
  Index rows;
  int v, k, r;
};
/// Fills column j, 0 before, by a field in the user's order times 2^exponent. S: float or double.
template <class S>
void put_candidate(const S* field, const CandidateTiles& shape, int j, int exponent, double* tiles,
                   const Stream& stream);
/// Puts ones on the diagonals of tiles that are 0.
void put_constants(const CandidateTiles& shape, double* tiles, const Stream& stream);

/// The motions at points of three coordinates each, a field for each motion, in the points' order.
template <class S>
void put_motions(const double* points, Offset count, const heddle::detail::RigidMotions& motions,
                 S* const* fields, const Stream& stream);

/// `length`: the mean length of the matrix's rows.
void find_norms(const device::NormRows& rows, double length, const Stream& stream);
/// Computes the row sums that later ones are compared with.
void find_reach(const device::ReachRows& rows, int ring, double length, double* reach,
                const Stream& stream);
void orthonormalize(const device::TentativeRows& rows, int ring, const Stream& stream);

}  // namespace heddle::cuda
