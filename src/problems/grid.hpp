// Boxes of cells or vertices, numbered lexicographically with x fastest, and rows on them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "heddle/problems.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::problems {

using GridPoint = std::array<Index, 3>;  // x, y, z

struct Grid {
  GridPoint sides;

  Index size() const { return sides[0] * sides[1] * sides[2]; }
  Index at(const GridPoint& p) const { return p[0] + sides[0] * (p[1] + sides[1] * p[2]); }
  GridPoint place(Index i) const {
    return {i % sides[0], i / sides[0] % sides[1], i / sides[0] / sides[1]};
  }
  Index stride(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? sides[0] : sides[0] * sides[1];
  }
};

/// About `size` places, no side under `least`; x and y are `stretch` times the side of a cube.
inline Grid make_grid(Index size, Index least, std::array<double, 2> stretch = {1, 1}) {
  const double wish = size;
  const auto side = [&](double length) {
    return std::max(least, static_cast<Index>(std::lround(length)));
  };
  const Index x = side(stretch[0] * std::cbrt(wish));
  const Index y = side(stretch[1] * std::cbrt(wish));
  const Index z = side(wish / x / y);
  return {{x, y, z}};
}

/// rows + 1 offsets from the length of each row.
template <class Length>
Array<Offset> make_offsets(Index rows, const Length& length) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  parallel_for(default_threads(), rows, [&](Index row) { offsets[row + 1] = length(row); });
  for (Index row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];
  return offsets;
}

/// The matrix of a 7-point scheme. `off_diagonal(row, place, axis, up)` is the entry for the
/// neighbour `row` -/+ stride(axis); `diagonal(row, place)` is the diagonal entry.
template <class E, class OffDiagonal, class Diagonal>
CsrMatrix<E> assemble_grid(const Grid& grid, const OffDiagonal& off_diagonal,
                           const Diagonal& diagonal) {
  const Index rows = grid.size();
  Array<Offset> offsets = make_offsets(rows, [&](Index row) {
    const GridPoint p = grid.place(row);
    Index length = 1;
    for (int axis = 0; axis < 3; ++axis) {
      length += (p[axis] > 0) + (p[axis] + 1 < grid.sides[axis]);
    }
    return length;
  });
  const auto entries = static_cast<std::size_t>(offsets[rows]);
  Array<Index> column(entries);
  Array<typename E::stored_scalar> values(entries * E::components);
  parallel_for(default_threads(), rows, [&](Index row) {
    const GridPoint p = grid.place(row);
    Offset i = offsets[row];
    const auto put = [&](Index where, const E& entry) {
      column[i] = where;
      std::copy_n(entry.component, E::components, values.data() + i * E::components);
      ++i;
    };
    for (int axis = 2; axis >= 0; --axis) {
      if (p[axis] > 0) put(row - grid.stride(axis), off_diagonal(row, p, axis, false));
    }
    put(row, diagonal(row, p));
    for (int axis = 0; axis < 3; ++axis) {
      if (p[axis] + 1 < grid.sides[axis]) {
        put(row + grid.stride(axis), off_diagonal(row, p, axis, true));
      }
    }
  });
  return {rows, rows, std::move(offsets), std::move(column), std::move(values)};
}

}  // namespace heddle::problems
