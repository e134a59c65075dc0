#include "tile_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "heddle/detail/wide_loop.hpp"
#include "heddle/tools/team.hpp"
#include "level_spectrum.hpp"
#include "local_systems.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

/// The rows, where `add(c, a, b)` is c += a b for one tile each.
template <class Add>
void multiply_tiles_by(const TileMatrix& a, const TileMatrix& b, TileMatrix& c,
                       ColumnPlaces& places, const Stream& host, const Add& add) {
  const long long work = c.pattern.entries() * c.shape.scalars() * 8LL;
  multiply_rows(
      a.pattern.view(a.columns), b.pattern.view(b.columns), c.pattern.view(c.columns), work, host,
      places, [&](Offset first, Offset end) { std::fill(c.tile(first), c.tile(end), double(0)); },
      [&](Offset k, Offset i, Offset j) { add(c.tile(k), a.tile(i), b.tile(j)); });
}

/// For tiles of H x M and M x W numbers; sizes of 0 are those of the shapes.
template <Ring R, int H, int M, int W>
void multiply_tiles(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, ColumnPlaces& places,
                    const Stream& host) {
  const auto add = [height = H > 0 ? H : a.shape.height, middle = M > 0 ? M : a.shape.width,
                    width = W > 0 ? W : b.shape.width](double* to, const double* left,
                                                       const double* right) {
    add_product_of_tiles<R>(to, left, right, H > 0 ? H : height, M > 0 ? M : middle,
                            W > 0 ? W : width);
  };
  constexpr bool is_wide = R == Ring::real && H * M * W > 1;
  if (is_wide && has_avx2()) {
    return multiply_tiles_by(a, b, c, places, host,
                             [&](double* to, const double* left, const double* right) {
                               run_by_avx2_fused([&] { add(to, left, right); });
                             });
  }
  multiply_tiles_by(a, b, c, places, host, add);
}

/// The rows with the sizes of tiles that occur most as constants.
template <Ring R>
void multiply_over(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, ColumnPlaces& places,
                   const Stream& host) {
  const auto are = [&](int height, int middle, int width) {
    return a.shape.height == height && a.shape.width == middle && b.shape.width == width;
  };
  if (are(1, 1, 1)) return multiply_tiles<R, 1, 1, 1>(a, b, c, places, host);
  if constexpr (R == Ring::real) {
    if (are(3, 3, 3)) return multiply_tiles<R, 3, 3, 3>(a, b, c, places, host);
    if (are(3, 3, 6)) return multiply_tiles<R, 3, 3, 6>(a, b, c, places, host);
    if (are(6, 3, 6)) return multiply_tiles<R, 6, 3, 6>(a, b, c, places, host);
    if (are(6, 6, 6)) return multiply_tiles<R, 6, 6, 6>(a, b, c, places, host);
  }
  multiply_tiles<R, 0, 0, 0>(a, b, c, places, host);
}

}  // namespace

TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host) {
  TileMatrix c;
  c.shape = {a.shape.height, b.shape.width, a.shape.ring};
  c.columns = b.columns;
  product_pattern(a.pattern.view(a.columns), b.pattern.view(b.columns), host, c.pattern.offsets,
                  c.pattern.column);
  c.make_values();
  return c;
}

void multiply(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, ColumnPlaces& places,
              const Stream& host) {
  switch (a.shape.ring) {
    case ring_size(Ring::real):
      return multiply_over<Ring::real>(a, b, c, places, host);
    case ring_size(Ring::complex):
      return multiply_over<Ring::complex>(a, b, c, places, host);
    default:
      return multiply_over<Ring::quaternion>(a, b, c, places, host);
  }
}

void multiply(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, const Stream& host) {
  ColumnPlaces places;
  multiply(a, b, c, places, host);
}

TileMatrix adjoint_pattern(const TileMatrix& a, Array<Offset>& place) {
  TileMatrix adjoint;
  adjoint.shape = a.shape.turned();
  adjoint.columns = a.rows();
  adjoint.pattern = transposed(a.pattern, a.columns, place);
  adjoint.make_values();
  return adjoint;
}

void conjugate_transpose(const TileMatrix& a, const Array<Offset>& place, TileMatrix& adjoint,
                         const Stream& host) {
  const auto [height, width, ring] = a.shape;
  const Offset scalars = a.shape.scalars(), h = height, w = width, r = ring;
  parallel_for(team_size(host, a.pattern.entries() * scalars), a.pattern.entries(), [&](Offset i) {
    const double* const from = a.tile(i);
    double* const to = adjoint.tile(place[static_cast<std::size_t>(i)]);
    for (Offset at = 0; at < scalars; ++at) {
      const Offset row = at / r / w, column = at / r % w, part = at % r;
      to[(column * h + row) * r + part] = part > 0 ? -from[at] : from[at];
    }
  });
}

void invert_diagonal(const TileMatrix& a, Array<double>& inverses, SetupScratch& scratch,
                     const Stream& host) {
  const auto v = static_cast<std::size_t>(a.shape.height),
             r = static_cast<std::size_t>(a.shape.ring);
  const auto size = static_cast<Offset>(a.shape.scalars());
  const LocalSolver<double> solve = local_solver<double>(a.shape.ring);
  std::atomic<Index> singular{a.rows()};
  std::atomic<bool> is_positive = true;
  const int team = team_size(host, a.rows() * size * 8);
  scratch.numbers.reserve(team, v * v * r + LocalSystem<double>::scratch_scalars(v, r));
  scratch.order.reserve(team, v);
  numbered_shares(team, a.rows(), 0, [&](int thread, auto&& for_each) {
    double* const matrix = scratch.numbers.of_thread(thread);
    for_each([&](Index row) {
      const std::span<const Index> columns = a.pattern.row(row);
      const auto found = std::lower_bound(columns.begin(), columns.end(), row);
      if (found == columns.end() || *found != row) return lower(singular, row);
      const double* const tile = a.tile(a.pattern.begin(row) + (found - columns.begin()));
      std::copy_n(tile, size, matrix);
      LocalSystem<double> system;
      system.size = system.wanted = static_cast<Index>(v);
      system.matrix = matrix;
      system.result = inverses.data() + row * size;
      system.scratch = matrix + size;
      system.order = scratch.order.of_thread(thread);
      system.smallest_pivot = 0;
      if (!solve(system, true)) is_positive = false;
      system.smallest_pivot = static_cast<double>(v) * std::numeric_limits<double>::epsilon();
      std::copy_n(tile, size, matrix);
      if (!solve(system, false)) lower(singular, row);
    });
  });
  if (const Index row = singular; row < a.rows()) {
    throw Error(ErrorKind::singular, "multigrid: the diagonal entry of row " + std::to_string(row) +
                                         " (counted from 0) is missing or singular");
  }
  if (!is_positive) refuse_indefinite();
}

Array<double> inverse_diagonal(const TileMatrix& a, const Stream& host) {
  Array<double> inverses(static_cast<std::size_t>(a.rows() * Offset(a.shape.scalars())));
  SetupScratch scratch;
  invert_diagonal(a, inverses, scratch, host);
  return inverses;
}

bool is_full(const EntryTiles& tiles) {
  return tiles.components() == tiles.size * tiles.size * tiles.ring &&
         std::all_of(tiles.component_of.begin(), tiles.component_of.end(),
                     [](const SignedPlace& place) { return place.sign != 0; });
}

bool is_in_order(const EntryTiles& tiles) {
  for (std::size_t k = 0; k < tiles.component_of.size(); ++k) {
    if (tiles.component_of[k].at != static_cast<int>(k) || tiles.component_of[k].sign != 1) {
      return false;
    }
  }
  return tiles.number_of.size() == tiles.component_of.size();
}

void components_from_tiles(const EntryTiles& tiles, std::span<const double> numbers,
                           std::span<std::byte> stored, int stored_bytes, const Stream& host) {
  const auto size = tiles.component_of.size(), K = tiles.number_of.size();
  const auto count = static_cast<Offset>(numbers.size() / size);
  parallel_for(team_size(host, static_cast<long long>(numbers.size())), count, [&](Offset i) {
    const double* const from = numbers.data() + static_cast<std::size_t>(i) * size;
    for (std::size_t k = 0; k < K; ++k) {
      const auto [at, sign] = tiles.number_of[k];
      set_stored(stored.data(), stored_bytes, i * static_cast<Offset>(K) + static_cast<Offset>(k),
                 sign * from[at]);
    }
  });
}

}  // namespace heddle::detail
