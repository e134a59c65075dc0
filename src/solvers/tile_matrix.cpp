#include "tile_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tools/team.hpp"
#include "level_spectrum.hpp"
#include "local_systems.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

/// Rows differ in length.
constexpr Offset tile_rows_at_once = 64;

/// c += a b for tiles of H x M and M x W numbers; sizes of 0 are those of the shapes.
template <Ring R, int H, int M, int W>
HEDDLE_INLINE void add_product_of_tiles(double* __restrict c, const double* a, const double* b,
                                        const TileShape& of_a, const TileShape& of_b) {
  constexpr Offset r = ring_size(R);
  const int height = H > 0 ? H : of_a.height, middle = M > 0 ? M : of_a.width;
  const int width = W > 0 ? W : of_b.width;
  for (int i = 0; i < height; ++i) {
    for (int m = 0; m < middle; ++m) {
      const double* const left = a + (i * middle + m) * r;
      for (int j = 0; j < width; ++j) {
        multiply_add_at<R>(c + (i * width + j) * r, left, b + (m * width + j) * r);
      }
    }
  }
}

template <Ring R, int H, int M, int W>
void multiply_rows(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, const Stream& host) {
  const Index n = a.rows();
  const long long work = c.pattern.entries() * c.shape.scalars() * 8LL;
  parallel_shares(team_size(host, work), n, tile_rows_at_once, [&](auto&& for_each) {
    std::vector<Offset> place(static_cast<std::size_t>(b.columns));
    for_each([&](Index row) {
      Offset at = c.pattern.begin(row);
      for (const Index column : c.pattern.row(row)) place[static_cast<std::size_t>(column)] = at++;
      std::fill(c.tile(c.pattern.begin(row)), c.tile(at), double(0));
      for (Offset i = a.pattern.begin(row); i < a.pattern.begin(row + 1); ++i) {
        const Index middle = a.pattern.column[static_cast<std::size_t>(i)];
        Offset j = b.pattern.begin(middle);
        for (const Index column : b.pattern.row(middle)) {
          add_product_of_tiles<R, H, M, W>(c.tile(place[static_cast<std::size_t>(column)]),
                                           a.tile(i), b.tile(j++), a.shape, b.shape);
        }
      }
    });
  });
}

/// The rows with the sizes of tiles that occur most as constants.
template <Ring R>
void multiply_over(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, const Stream& host) {
  const auto are = [&](int height, int middle, int width) {
    return a.shape.height == height && a.shape.width == middle && b.shape.width == width;
  };
  if (are(1, 1, 1)) return multiply_rows<R, 1, 1, 1>(a, b, c, host);
  if constexpr (R == Ring::real) {
    if (are(3, 3, 3)) return multiply_rows<R, 3, 3, 3>(a, b, c, host);
    if (are(3, 3, 6)) return multiply_rows<R, 3, 3, 6>(a, b, c, host);
    if (are(6, 3, 6)) return multiply_rows<R, 6, 3, 6>(a, b, c, host);
    if (are(6, 6, 6)) return multiply_rows<R, 6, 6, 6>(a, b, c, host);
  }
  multiply_rows<R, 0, 0, 0>(a, b, c, host);
}

}  // namespace

TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host) {
  const Index n = a.rows();
  TileMatrix c;
  c.shape = {a.shape.height, b.shape.width, a.shape.ring};
  c.columns = b.columns;
  c.pattern.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  const int team = team_size(host, a.pattern.entries() * 8LL);
  const auto for_each_row = [&](const auto& body) {
    parallel_shares(team, n, tile_rows_at_once, [&](auto&& for_each) {
      std::vector<Index> reached_by(static_cast<std::size_t>(b.columns), -1), reached;
      for_each([&](Index row) {
        reached.clear();
        for (const Index middle : a.pattern.row(row)) {
          for (const Index column : b.pattern.row(middle)) {
            if (std::exchange(reached_by[static_cast<std::size_t>(column)], row) == row) continue;
            reached.push_back(column);
          }
        }
        body(row, reached);
      });
    });
  };
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    c.pattern.offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(reached.size());
  });
  sum_up(c.pattern.offsets);
  c.pattern.column = Array<Index>(static_cast<std::size_t>(c.pattern.entries()));
  for_each_row([&](Index row, std::vector<Index>& reached) {
    std::sort(reached.begin(), reached.end());
    std::copy(reached.begin(), reached.end(), c.pattern.column.data() + c.pattern.begin(row));
  });
  c.make_values();
  return c;
}

void multiply(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, const Stream& host) {
  switch (a.shape.ring) {
    case ring_size(Ring::real):
      return multiply_over<Ring::real>(a, b, c, host);
    case ring_size(Ring::complex):
      return multiply_over<Ring::complex>(a, b, c, host);
    default:
      return multiply_over<Ring::quaternion>(a, b, c, host);
  }
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

Array<double> inverse_diagonal(const TileMatrix& a, const Stream& host) {
  const auto v = static_cast<std::size_t>(a.shape.height),
             r = static_cast<std::size_t>(a.shape.ring);
  const auto size = static_cast<Offset>(a.shape.scalars());
  const LocalSolver<double> solve = local_solver<double>(a.shape.ring);
  Array<double> inverses(static_cast<std::size_t>(a.rows() * size));
  std::atomic<Index> singular{a.rows()};
  std::atomic<bool> is_positive = true;
  parallel_shares(team_size(host, a.rows() * size * 8), a.rows(), 0, [&](auto&& for_each) {
    std::vector<double> matrix(v * v * r), scratch(LocalSystem<double>::scratch_scalars(v, r));
    std::vector<Index> order(v);
    for_each([&](Index row) {
      const std::span<const Index> columns = a.pattern.row(row);
      const auto found = std::lower_bound(columns.begin(), columns.end(), row);
      if (found == columns.end() || *found != row) return lower(singular, row);
      const double* const tile = a.tile(a.pattern.begin(row) + (found - columns.begin()));
      std::copy_n(tile, size, matrix.begin());
      LocalSystem<double> system;
      system.size = system.wanted = static_cast<Index>(v);
      system.matrix = matrix.data();
      system.result = inverses.data() + row * size;
      system.scratch = scratch.data();
      system.order = order.data();
      system.smallest_pivot = 0;
      if (!solve(system, true)) is_positive = false;
      system.smallest_pivot = static_cast<double>(v) * std::numeric_limits<double>::epsilon();
      std::copy_n(tile, size, matrix.begin());
      if (!solve(system, false)) lower(singular, row);
    });
  });
  if (const Index row = singular; row < a.rows()) {
    throw Error(ErrorKind::singular, "multigrid: the diagonal entry of row " + std::to_string(row) +
                                         " (counted from 0) is missing or singular");
  }
  if (!is_positive) refuse_indefinite();
  return inverses;
}

bool is_full(const EntryTiles& tiles) {
  return tiles.components() == tiles.size * tiles.size * tiles.ring &&
         std::all_of(tiles.component_of.begin(), tiles.component_of.end(),
                     [](const SignedPlace& place) { return place.sign != 0; });
}

void tiles_from_components(const EntryTiles& tiles, std::span<const double> components,
                           std::span<double> numbers, const Stream& host) {
  const auto size = tiles.component_of.size(), K = tiles.number_of.size();
  const auto count = static_cast<Offset>(numbers.size() / size);
  parallel_for(team_size(host, static_cast<long long>(numbers.size())), count, [&](Offset i) {
    const double* const from = components.data() + static_cast<std::size_t>(i) * K;
    double* const to = numbers.data() + static_cast<std::size_t>(i) * size;
    for (std::size_t k = 0; k < size; ++k) {
      const auto [at, sign] = tiles.component_of[k];
      to[k] = sign * from[at];
    }
  });
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
