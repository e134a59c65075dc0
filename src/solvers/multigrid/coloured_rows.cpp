#include "coloured_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// The colour of each row, below `most`; empty if more colours are needed.
std::vector<int> colours_of(const TileMatrix& a, int most, int& count) {
  std::vector<int> colour(static_cast<std::size_t>(a.rows()), -1);
  std::vector<Index> taken(static_cast<std::size_t>(most), -1);  // last row with such a neighbour
  count = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    for (const Index column : a.pattern.row(row)) {
      const int of_column = colour[static_cast<std::size_t>(column)];
      if (of_column >= 0) taken[static_cast<std::size_t>(of_column)] = row;
    }
    int own = 0;
    while (own < most && taken[static_cast<std::size_t>(own)] == row) ++own;
    if (own == most) return {};
    colour[static_cast<std::size_t>(row)] = own;
    count = std::max(count, own + 1);
  }
  return colour;
}

/// c = a b for square tiles.
template <Ring R>
void multiply_tile(const double* a, const double* b, double* c, int size) {
  std::fill(c, c + Offset{size} * size * ring_size(R), double(0));
  add_product_of_tiles<R>(c, a, b, size, size, size);
}

}  // namespace

long long ColouredRows::bytes() const {
  auto bytes = static_cast<long long>(row.size() * sizeof(Index));
  for (const TileMatrix& matrix : of_colour) {
    bytes += static_cast<long long>(matrix.pattern.offsets.size() * sizeof(Offset) +
                                    matrix.pattern.column.size() * sizeof(Index) +
                                    matrix.values.size() * sizeof(double));
  }
  for (const Array<Offset>& entries : from) {
    bytes += static_cast<long long>(entries.size() * sizeof(Offset));
  }
  return bytes;
}

ColouredRows colour_rows(const TileMatrix& a, int most) {
  ColouredRows rows;
  int count = 0;
  const std::vector<int> colour = colours_of(a, most, count);
  if (colour.empty()) return rows;
  const auto n = static_cast<std::size_t>(a.rows());
  rows.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const int own : colour) ++rows.begin[static_cast<std::size_t>(own) + 1];
  for (std::size_t k = 1; k < rows.begin.size(); ++k) rows.begin[k] += rows.begin[k - 1];
  rows.row = Array<Index>(n);
  std::vector<Index> place(n), next(rows.begin.begin(), rows.begin.end() - 1);
  for (std::size_t row = 0; row < n; ++row) {
    place[row] = next[static_cast<std::size_t>(colour[row])]++;
    rows.row[static_cast<std::size_t>(place[row])] = static_cast<Index>(row);
  }
  std::vector<std::pair<Index, Offset>> of_row;  // column and entry
  for (std::size_t k = 0; k + 1 < rows.begin.size(); ++k) {
    const Index first = rows.begin[k], end = rows.begin[k + 1];
    TileMatrix& part = rows.of_colour.emplace_back();
    part.shape = a.shape;
    part.columns = a.rows();
    part.pattern.offsets = Array<Offset>(static_cast<std::size_t>(end - first) + 1);
    for (Index at = first; at < end; ++at) {
      const Index row = rows.row[static_cast<std::size_t>(at)];
      const auto columns = a.pattern.row(row);
      const bool has_own = std::binary_search(columns.begin(), columns.end(), row);
      part.pattern.offsets[static_cast<std::size_t>(at - first) + 1] =
          part.pattern.offsets[static_cast<std::size_t>(at - first)] +
          static_cast<Offset>(columns.size()) - (has_own ? 1 : 0);
    }
    const auto entries = static_cast<std::size_t>(part.pattern.entries());
    part.pattern.column = Array<Index>(entries);
    Array<Offset>& from = rows.from.emplace_back(entries);
    std::size_t to = 0;
    for (Index at = first; at < end; ++at) {
      const Index row = rows.row[static_cast<std::size_t>(at)];
      of_row.clear();
      for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
        const Index column = a.pattern.column[static_cast<std::size_t>(e)];
        if (column != row) of_row.emplace_back(place[static_cast<std::size_t>(column)], e);
      }
      std::sort(of_row.begin(), of_row.end());
      for (const auto& [column, entry] : of_row) {
        part.pattern.column[to] = column;
        from[to++] = entry;
      }
    }
    part.make_values();
  }
  return rows;
}

void scale_rows(const TileMatrix& a, const UnsetArray<double>& inverses, ColouredRows& rows,
                const Stream& host) {
  const auto multiply = a.shape.ring == ring_size(Ring::real) ? multiply_tile<Ring::real>
                        : a.shape.ring == ring_size(Ring::complex)
                            ? multiply_tile<Ring::complex>
                            : multiply_tile<Ring::quaternion>;
  const Offset size = a.shape.scalars();
  for (std::size_t k = 0; k < rows.of_colour.size(); ++k) {
    TileMatrix& part = rows.of_colour[k];
    const Array<Offset>& from = rows.from[k];
    const long long work = part.pattern.entries() * size * a.shape.height;
    parallel_for(team_size(host, work), part.rows(), [&](Index at) {
      const Offset row = rows.row[static_cast<std::size_t>(rows.begin[k] + at)];
      for (Offset e = part.pattern.begin(at); e < part.pattern.begin(at + 1); ++e) {
        multiply(inverses.data() + row * size, a.tile(from[static_cast<std::size_t>(e)]),
                 part.tile(e), a.shape.height);
      }
    });
  }
}

TileMatrix in_user_rows(const ColouredRows& rows) {
  TileMatrix all;
  const auto n = rows.row.size();
  all.columns = static_cast<Index>(n);
  all.pattern.offsets = Array<Offset>(n + 1);
  const auto for_each_row = [&rows](const auto& visit) {
    for (std::size_t k = 0; k < rows.of_colour.size(); ++k) {
      const TileMatrix& part = rows.of_colour[k];
      for (Index at = 0; at < part.rows(); ++at) {
        visit(part, at,
              static_cast<std::size_t>(rows.row[static_cast<std::size_t>(rows.begin[k] + at)]));
      }
    }
  };
  for_each_row([&](const TileMatrix& part, Index at, std::size_t row) {
    all.shape = part.shape;
    all.pattern.offsets[row + 1] = part.pattern.begin(at + 1) - part.pattern.begin(at);
  });
  for (std::size_t row = 0; row < n; ++row) {
    all.pattern.offsets[row + 1] += all.pattern.offsets[row];
  }
  all.pattern.column = Array<Index>(static_cast<std::size_t>(all.pattern.offsets[n]));
  all.make_values();
  for_each_row([&](const TileMatrix& part, Index at, std::size_t row) {
    Offset to = all.pattern.offsets[row];
    for (Offset e = part.pattern.begin(at); e < part.pattern.begin(at + 1); ++e, ++to) {
      const Index place = part.pattern.column[static_cast<std::size_t>(e)];
      all.pattern.column[static_cast<std::size_t>(to)] = rows.row[static_cast<std::size_t>(place)];
      std::copy_n(part.tile(e), all.shape.scalars(), all.tile(to));
    }
  });
  return all;
}

TileMatrix colour_of_rows(const ColouredRows& rows) {
  TileMatrix colours;
  const auto n = rows.row.size();
  colours.columns = static_cast<Index>(rows.count());
  colours.pattern.offsets = Array<Offset>(n + 1);
  colours.pattern.column = Array<Index>(n);
  std::iota(colours.pattern.offsets.begin(), colours.pattern.offsets.end(), Offset{0});
  for (int k = 0; k < rows.count(); ++k) {
    const auto colour = static_cast<std::size_t>(k);
    for (Index at = rows.begin[colour]; at < rows.begin[colour + 1]; ++at) {
      const Index row = rows.row[static_cast<std::size_t>(at)];
      colours.pattern.column[static_cast<std::size_t>(row)] = k;
    }
  }
  return colours;
}

void l1_diagonal(const TileMatrix& a, TileMatrix& m, const Stream& host) {
  const auto n = static_cast<std::size_t>(a.rows());
  if (m.values.empty()) {
    m.shape = a.shape;
    m.columns = a.rows();
    m.pattern.offsets = Array<Offset>(n + 1);
    m.pattern.column = Array<Index>(n);
    for (std::size_t row = 0; row < n; ++row) {
      m.pattern.offsets[row + 1] = static_cast<Offset>(row) + 1;
      m.pattern.column[row] = static_cast<Index>(row);
    }
    m.make_values();
  }
  const Offset size = a.shape.scalars(), height = a.shape.height, ring = a.shape.ring;
  parallel_for(team_size(host, a.pattern.entries() * size), a.rows(), [&](Index row) {
    double sum = 0;
    double* const own = m.tile(row);
    std::fill_n(own, size, 0.0);
    for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
      const double* const tile = a.tile(e);
      if (a.pattern.column[static_cast<std::size_t>(e)] == row) {
        std::copy_n(tile, size, own);
        continue;
      }
      double norm = 0;
      for (Offset t = 0; t < size; ++t) norm = std::hypot(norm, tile[t]);
      sum += norm;
    }
    for (Offset i = 0; i < height; ++i) own[i * (height + 1) * ring] += sum;
  });
}

}  // namespace heddle::detail
