#include "tile_values_cuda.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/launch_cuda.cuh"
#include "heddle/kernels/local_inverse.cuh"
#include "row_team_cuda.cuh"
#include "warp_products_cuda.cuh"

namespace heddle::cuda {

namespace tile_values {

using heddle::detail::ProductShares;

constexpr int factor_threads = 256;  // per block that eliminates: each of them divides

/// Calls `run` with the most frequent sizes of square tiles as constants, 0 for others.
template <class Run>
void with_tile(int ring, int size, const Run& run) {
  with_ring(ring, [&]<Ring R>() {
    if (size == 1) return run.template operator()<R, 1>();
    if constexpr (R == Ring::real) {
      if (size == 3) return run.template operator()<R, 3>();
      if (size == 6) return run.template operator()<R, 6>();
    }
    run.template operator()<R, 0>();
  });
}

template <class Scalar>
void read_as(const StoredTiles& tiles, int* doubt, const Stream& stream) {
  for_each_index(stream, tiles.entries * tiles.scalars, [=] __device__(Offset t) {
    const Offset entry = t / tiles.scalars, slot = tiles.slot[entry];
    const TileComponent component = tiles.components[t - entry * tiles.scalars];
    const auto lane = static_cast<int>(slot % tiles.rule.C);
    const double value =
        component.sign *
        double(static_cast<const Scalar*>(tiles.from)[tiles.rule(slot - lane, lane, component.at)]);
    tiles.to[t] = value;
    if (!device::is_finite(value)) *doubt = 1;
  });
}

/// `device::multiply_row` with the sums of units in shared memory.
template <Ring R, int H, int M, int W>
struct MultiplyRow {
  device::TileProduct product;
  Offset tiles, sums_size;

  __device__ void operator()(const RowTeam& team, Index unit, int number) const {
    extern __shared__ double2 sums_of_block[];
    __shared__ device::EntryTerms terms[threads];
    static_assert(heddle::detail::shared_bytes_of_warp * (threads / 32) + sizeof terms <
                  (48 << 10) - 64);
    double* const sums =
        reinterpret_cast<double*>(sums_of_block) + number * (sums_size / Offset(sizeof(double)));
    device::multiply_row<R, H, M, W>(team, product, unit, sums, tiles, terms + number * team.lanes);
  }
};

/// Joins the sums of pieces, with one thread per number of C.
template <Ring R>
void join(const device::TileProduct& product, const Stream& stream) {
  const Offset numbers = product.pieces.sums_size / ring_size(R);
  for_each_index(stream, product.c.rows * numbers, [=] __device__(Offset t) {
    const auto row = static_cast<Index>(t / numbers);
    device::join_pieces<R>(product, row, t - row * numbers);
  });
}

template <Ring R>
void multiply_over(const device::TileProduct& product, Index units, const ProductShares& shares,
                   const Stream& stream) {
  const auto are = [&](int height, int middle, int width) {
    return product.height == height && product.middle == middle && product.width == width;
  };
  const auto by_teams = [&]<int H, int M, int W>() {
    for_each_row(units, shares.lanes,
                 static_cast<unsigned>(shares.sums_size * (threads / shares.lanes)), stream,
                 MultiplyRow<R, H, M, W>{product, shares.tiles, shares.sums_size});
  };
  if (are(1, 1, 1)) return by_teams.template operator()<1, 1, 1>();
  if constexpr (R == Ring::real) {
    if (are(3, 3, 3)) return by_teams.template operator()<3, 3, 3>();
    if (are(3, 3, 6)) return multiply_by_warps<3, 3>(product, units, shares, stream);
    if (are(6, 3, 6)) return multiply_by_warps<6, 3>(product, units, shares, stream);
    if (are(6, 6, 6)) return multiply_by_warps<6, 6>(product, units, shares, stream);
  }
  by_teams.template operator()<0, 0, 0>();
}

/// Each block takes as many columns of a panel as the panel has rows.
template <Ring R>
__global__ void __launch_bounds__(factor_threads)
    eliminate_columns(device::DenseInverse d, const double* matrix, int first, int* doubt) {
  __shared__ double scratch[device::scalars_of_panel<R>];
  constexpr int width = device::rows_of_panel<R>;
  const int begin = static_cast<int>(blockIdx.x) * width, end = min(begin + width, d.n);
  const device::BlockTeam<factor_threads> team{static_cast<int>(threadIdx.x)};
  const bool is_good = device::eliminate_panel<R>(team, d, matrix, first, begin, end, scratch);
  if (!is_good && threadIdx.x == 0) *doubt = 1;
}

template <Ring R>
void invert_over(const device::DenseInverse& dense, int* doubt, const Stream& stream) {
  const OnGpu here(stream);
  constexpr int width = device::rows_of_panel<R>;
  const int n = dense.n;
  for_each_row(dense.a.rows, threads, 0, stream,
               [=] __device__(const RowTeam& team, Index row, int) {
                 device::fill_dense(team, dense, ring_size(R), row);
               });
  const double* matrix = dense.dense;
  double* to = dense.other;
  for (int first = 0; first < n; first += width) {
    eliminate_columns<R>
        <<<static_cast<unsigned>((n + width - 1) / width), factor_threads, 0, stream.queue>>>(
            dense, matrix, first, doubt);
    check(cudaGetLastError(), "the launch of a kernel");
    for_each_index(stream, Offset(n) * n, [=] __device__(Offset t) {
      device::eliminate<R>(dense, matrix, to, first, static_cast<int>(t / n),
                           static_cast<int>(t % n));
    });
    matrix = std::exchange(to, const_cast<double*>(matrix));
  }
  for_each_index(stream, Offset(n) * n, [=] __device__(Offset t) {
    const auto i = static_cast<int>(t / n), j = static_cast<int>(t % n);
    if (j <= i) device::put_inverse<R>(dense, matrix, i, j);
  });
}

template <class Scalar>
void write_as(const TileEntries& entries, const Stream& stream) {
  for_each_index(stream, entries.entries * entries.scalars, [=] __device__(Offset t) {
    const Offset entry = t / entries.scalars;
    const TileComponent number = entries.numbers[t - entry * entries.scalars];
    static_cast<Scalar*>(entries.to)[t] =
        static_cast<Scalar>(number.sign * entries.from[entry * entries.scalars + number.at]);
  });
}

template <Ring R, int H, int W>
void smooth_rows(const device::SmoothedRows& rows, int lanes, const Stream& stream) {
  for_each_row(rows.p.rows, lanes, 0, stream, [=] __device__(const RowTeam& team, Index row, int) {
    device::smooth_row<R, H, W>(team, rows, row);
  });
}

template <Ring R>
void smooth_over(const device::SmoothedRows& rows, int lanes, const Stream& stream) {
  if (rows.height == 1 && rows.width == 1) return smooth_rows<R, 1, 1>(rows, lanes, stream);
  if constexpr (R == Ring::real) {
    if (rows.width == 6 && rows.height == 3) return smooth_rows<R, 3, 6>(rows, lanes, stream);
    if (rows.width == 6 && rows.height == 6) return smooth_rows<R, 6, 6>(rows, lanes, stream);
  }
  smooth_rows<R, 0, 0>(rows, lanes, stream);
}

template <Ring R, int V>
void invert_diagonal_over(const device::DiagonalRows& rows, Index count, int* doubt,
                          const Stream& stream) {
  for_each_index(stream, count, [=] __device__(Offset row) {
    if (!device::invert_row<R, V>(rows, static_cast<Index>(row))) *doubt = 1;
  });
}

template <Ring R, int V>
void look_over(const device::ReachRows& rows, int lanes, int* doubt, const Stream& stream) {
  for_each_row(rows.a.rows, lanes, 0, stream, [=] __device__(const RowTeam& team, Index row, int) {
    if (device::exceeds<R, V>(team, rows, row)) *doubt = 1;
  });
}

template <Ring R>
void mend_over(const device::MendedRows& rows, int lanes, int* doubt, const Stream& stream) {
  for_each_row(rows.restriction.rows, lanes, 0, stream,
               [=] __device__(const RowTeam& team, Index row, int) {
                 if (!device::mend_row<R>(team, rows, row)) *doubt = 1;
               });
}

}  // namespace tile_values

void read_tiles(const StoredTiles& tiles, int* doubt, const Stream& stream) {
  if (tiles.scalar_bytes == sizeof(float)) {
    return tile_values::read_as<float>(tiles, doubt, stream);
  }
  tile_values::read_as<double>(tiles, doubt, stream);
}

void write_entries(const TileEntries& entries, const Stream& stream) {
  if (entries.scalar_bytes == sizeof(float)) return tile_values::write_as<float>(entries, stream);
  tile_values::write_as<double>(entries, stream);
}

void multiply(device::TileProduct product, int ring, double length, Offset longest,
              const Stream& stream) {
  const heddle::detail::ProductShares shares =
      heddle::detail::shares_of(product.height, product.width, ring, length, longest);
  constexpr Index last_index = std::numeric_limits<Index>::max();
  const bool is_whole = product.pieces.count == 0;
  const Index rows = is_whole ? product.c.rows : product.pieces.count;
  if (rows <= 0) return;
  product.windows = product.grows ? std::min(shares.windows, last_index / rows) : 1;
  tile_values::with_ring(ring, [&]<Ring R>() {
    tile_values::multiply_over<R>(product, rows * product.windows, shares, stream);
    if (!is_whole) tile_values::join<R>(product, stream);
  });
}

heddle::detail::ProductPieces cut(const device::TileProduct& product, std::span<const Offset> rows,
                                  int ring, double length, Offset longest, const Device& device) {
  auto pieces = heddle::detail::product_pieces(
      rows,
      heddle::detail::sizes_of_pieces(rows, product.height, product.width, ring, length, longest),
      device);
  if (pieces.sizes.count == 0) return pieces;
  device::TileProduct in_pieces = product;
  in_pieces.pieces = pieces.view(nullptr);
  Offset* const place = pieces.place.data();
  for_each_index(device.stream(), product.a.rows, [=] __device__(Offset row) {
    device::find_places(in_pieces, static_cast<Index>(row), place);
  });
  return pieces;
}

void smooth(const device::SmoothedRows& rows, int ring, double length, const Stream& stream) {
  const int lanes = tile_values::lanes_for(rows.p.rows, length * rows.height * rows.width);
  tile_values::with_ring(ring, [&]<Ring R>() { tile_values::smooth_over<R>(rows, lanes, stream); });
}

void invert_diagonal(const device::DiagonalRows& rows, int ring, Index count, int* doubt,
                     const Stream& stream) {
  tile_values::with_tile(ring, rows.size, [&]<Ring R, int V>() {
    tile_values::invert_diagonal_over<R, V>(rows, count, doubt, stream);
  });
}

void look_for_growth(const device::ReachRows& rows, int ring, double length, int* doubt,
                     const Stream& stream) {
  const int lanes = tile_values::lanes_for(rows.a.rows, length);
  tile_values::with_tile(ring, rows.size, [&]<Ring R, int V>() {
    tile_values::look_over<R, V>(rows, lanes, doubt, stream);
  });
}

void mend(const device::MendedRows& rows, int ring, double length, int* doubt,
          const Stream& stream) {
  const int lanes = tile_values::lanes_for(rows.restriction.rows, length);
  tile_values::with_ring(ring,
                         [&]<Ring R>() { tile_values::mend_over<R>(rows, lanes, doubt, stream); });
}

void invert_dense(const device::DenseInverse& dense, int ring, int* doubt, const Stream& stream) {
  tile_values::with_ring(ring,
                         [&]<Ring R>() { tile_values::invert_over<R>(dense, doubt, stream); });
}

}  // namespace heddle::cuda
