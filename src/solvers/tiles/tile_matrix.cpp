#include "tile_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heddle/tools/team.hpp"
#include "level_spectrum.hpp"
#include "local_systems.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

TileMatrix adjoint_pattern(const TileMatrix& a, const Stream& host, Array<Offset>& place) {
  TileMatrix adjoint;
  adjoint.shape = a.shape.transposed();
  adjoint.columns = a.rows();
  adjoint.pattern = transposed(a.pattern, a.columns, host, place);
  adjoint.make_values();
  return adjoint;
}

void conjugate_transpose(const TileMatrix& a, const Array<Offset>& place, TileMatrix& adjoint,
                         const Stream& host) {
  const int team = team_size(host, a.pattern.entries() * a.shape.scalars());
  if (a.shape.scalars() == 1) {
    return parallel_for(team, a.pattern.entries(),
                        [from = a.values.data(), to = place.data(),
                         numbers = adjoint.values.data()](Offset i) { numbers[to[i]] = from[i]; });
  }
  parallel_for(team, a.pattern.entries(), [&](Offset i) {
    put_conjugate_transpose(a.shape, a.tile(i), adjoint.tile(place[static_cast<std::size_t>(i)]));
  });
}

namespace {

/// True if the tiles of `row` hold nothing but zeros in their row i.
bool is_zero_row(const TileMatrix& a, Index row, Index i) {
  const Offset numbers = Offset(a.shape.width) * a.shape.ring;
  for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
    const double* const number = a.tile(e) + i * numbers;
    if (!std::all_of(number, number + numbers, [](double scalar) { return scalar == 0; })) {
      return false;
    }
  }
  return true;
}

/// Puts the tile on the diagonal of `row` into `tile`, with 1 for each of its rows of zeros. False
/// if another row has a zero there: then the matrix is indefinite.
bool read_diagonal(const TileMatrix& a, Index row, double* tile) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const std::span<const Index> columns = a.pattern.row(row);
  const auto found = std::lower_bound(columns.begin(), columns.end(), row);
  if (found == columns.end() || *found != row) {
    std::fill_n(tile, v * v * r, 0.0);
  } else {
    std::copy_n(a.tile(a.pattern.begin(row) + (found - columns.begin())), v * v * r, tile);
  }
  for (Offset i = 0; i < v; ++i) {
    double* const number = tile + (i * v + i) * r;
    if (number[0] != 0) continue;
    if (!is_zero_row(a, row, static_cast<Index>(i))) return false;
    number[0] = 1;
  }
  return true;
}

}  // namespace

void invert_diagonal(const TileMatrix& a, UnsetArray<double>& inverses, SetupScratch& scratch,
                     const Stream& host) {
  const auto v = static_cast<std::size_t>(a.shape.height),
             r = static_cast<std::size_t>(a.shape.ring);
  const auto size = static_cast<Offset>(a.shape.scalars());
  const LocalSolver<double> solve = local_solver<double>(a.shape.ring);
  std::atomic<Index> singular{a.rows()};
  std::atomic<bool> is_positive = true;
  const int team = team_size(host, a.rows() * size * 8);
  const auto check = [&] {
    if (const Index row = singular; row < a.rows()) {
      throw Error(ErrorKind::singular, "multigrid: the diagonal entry of row " +
                                           std::to_string(row) +
                                           " (counted from 0) is singular or not finite");
    }
    if (!is_positive) refuse_indefinite();
  };
  if (size == 1) {
    parallel_for(team, a.rows(), [&](Index row) {
      double number;
      if (!read_diagonal(a, row, &number)) {
        is_positive = false;
        return;
      }
      double& inverse = inverses[static_cast<std::size_t>(row)];
      inverse = 1 / number;
      if (!std::isfinite(number) || !std::isfinite(inverse)) return lower(singular, row);
      if (!(number > 0)) is_positive = false;
    });
    return check();
  }
  scratch.numbers.reserve(team, 2 * v * v * r + LocalSystem<double>::scratch_scalars(v, r));
  scratch.order.reserve(team, v);
  numbered_shares(team, a.rows(), 0, [&](int thread, auto&& for_each) {
    double *const matrix = scratch.numbers.of_thread(thread), *const tile = matrix + size;
    for_each([&](Index row) {
      if (!read_diagonal(a, row, tile)) {
        is_positive = false;
        return;
      }
      std::copy_n(tile, size, matrix);
      LocalSystem<double> system;
      system.size = system.wanted = static_cast<Index>(v);
      system.matrix = matrix;
      system.result = inverses.data() + row * size;
      system.scratch = tile + size;
      system.order = scratch.order.of_thread(thread);
      system.smallest_pivot = 0;
      if (!solve(system, true)) is_positive = false;
      system.smallest_pivot = static_cast<double>(v) * std::numeric_limits<double>::epsilon();
      std::copy_n(tile, size, matrix);
      if (!solve(system, false)) lower(singular, row);
    });
  });
  check();
}

UnsetArray<double> inverse_diagonal(const TileMatrix& a, const Stream& host) {
  UnsetArray<double> inverses(static_cast<std::size_t>(a.rows() * Offset(a.shape.scalars())));
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
