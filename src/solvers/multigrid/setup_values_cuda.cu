#include "setup_values_cuda.hpp"

#include "solvers/tiles/row_team_cuda.cuh"

namespace heddle::cuda {

namespace tile_values {

template <Ring R>
void orthonormalize_over(const device::TentativeRows& rows, const Stream& stream) {
  constexpr int warp = 32;
  for_each_row(rows.members.rows, warp, 0, stream,
               [=] __device__(const RowTeam& team, Index one, int) {
                 device::orthonormalize<R>(team, rows, one);
               });
}

template <Ring R>
void find_reach_over(const device::ReachRows& rows, int lanes, double* reach,
                     const Stream& stream) {
  for_each_row(rows.a.rows, lanes, 0, stream, [=] __device__(const RowTeam& team, Index row, int) {
    const double sum = device::reach_of_row<R, 0>(team, rows, row);
    team.each([&](int lane) {
      if (lane == 0) reach[row] = sum;
    });
  });
}

}  // namespace tile_values

template <class S>
void put_candidate(const S* field, const CandidateTiles& shape, int j, int exponent, double* tiles,
                   const Stream& stream) {
  const int k = shape.k, r = shape.r;
  for_each_index(stream, Offset(shape.rows) * shape.v * r, [=] __device__(Offset t) {
    const Offset number = t / r, part = t - number * r;
    tiles[(number * k + j) * r + part] = ldexp(static_cast<double>(field[t]), exponent);
  });
}
template void put_candidate(const float*, const CandidateTiles&, int, int, double*, const Stream&);
template void put_candidate(const double*, const CandidateTiles&, int, int, double*, const Stream&);

void put_constants(const CandidateTiles& shape, double* tiles, const Stream& stream) {
  const int v = shape.v, k = shape.k, r = shape.r;
  for_each_index(stream, Offset(shape.rows) * v,
                 [=] __device__(Offset number) { tiles[(number * k + number % v) * r] = 1; });
}

template <class S>
void put_motions(const double* points, Offset count, const heddle::detail::RigidMotions& motions,
                 S* const* fields, const Stream& stream) {
  for (int motion = 0; motion < motions.count(); ++motion) {
    for_each_index(
        stream, count * motions.dimension,
        [=, d = motions.dimension, to = fields[motion]] __device__(Offset t) {
          to[t] = static_cast<S>(motions.at(points + t / d * 3, motion, static_cast<int>(t % d)));
        });
  }
}
template void put_motions(const double*, Offset, const heddle::detail::RigidMotions&, float* const*,
                          const Stream&);
template void put_motions(const double*, Offset, const heddle::detail::RigidMotions&,
                          double* const*, const Stream&);

void find_norms(const device::NormRows& rows, double length, const Stream& stream) {
  tile_values::for_each_row(rows.a.rows, tile_values::lanes_for(rows.a.rows, length), 0, stream,
                            [=] __device__(const tile_values::RowTeam& team, Index row, int) {
                              device::norms_of_row(team, rows, row);
                            });
}

void find_reach(const device::ReachRows& rows, int ring, double length, double* reach,
                const Stream& stream) {
  const int lanes = tile_values::lanes_for(rows.a.rows, length);
  tile_values::with_ring(
      ring, [&]<Ring R>() { tile_values::find_reach_over<R>(rows, lanes, reach, stream); });
}

void orthonormalize(const device::TentativeRows& rows, int ring, const Stream& stream) {
  tile_values::with_ring(ring,
                         [&]<Ring R>() { tile_values::orthonormalize_over<R>(rows, stream); });
}

}  // namespace heddle::cuda
