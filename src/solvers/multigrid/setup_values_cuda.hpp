// Kernels of a hierarchy's set-up on a GPU for the rows of setup_rows.hpp. All are only queued.
#pragma once

#include "heddle/device.hpp"
#include "rigid_motions.hpp"
#include "setup_rows.hpp"

namespace heddle::cuda {

/// Candidates: a tile of v x k numbers, of r scalars, for each row.
struct CandidateTiles {
  Index rows;
  int v, k, r;
};
/// Column j of zeros, from fields in the user's order, times 2^exponent. S: float or double.
template <class S>
void put_candidate(const S* field, const CandidateTiles& shape, int j, int exponent, double* tiles,
                   const Stream& stream);
/// Ones on the diagonals of zeros.
void put_constants(const CandidateTiles& shape, double* tiles, const Stream& stream);

/// The motions at points of three coordinates each, a field for each motion, in the points' order.
template <class S>
void put_motions(const double* points, Offset count, const heddle::detail::RigidMotions& motions,
                 S* const* fields, const Stream& stream);

/// `length`: the mean of the matrix's rows.
void find_norms(const device::NormRows& rows, double length, const Stream& stream);
/// The largest of numbers that are 0 or more, in `*largest` of the GPU's memory.
void find_largest(const double* numbers, Offset count, double* largest, const Stream& stream);
/// The sums of rows that later ones are compared with.
void find_reach(const device::ReachRows& rows, int ring, double length, double* reach,
                const Stream& stream);
void orthonormalize(const device::TentativeRows& rows, int ring, const Stream& stream);

}  // namespace heddle::cuda
