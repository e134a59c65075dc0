#include "aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heddle/methods/coefficient.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// Inverse scale of the largest diagonal entry: no entry of a semidefinite matrix is larger.
double inverse_scale_of(const TileMatrix& a, int team) {
  const double largest = parallel_reduce(
      team, a.rows(), double(0),
      [&](Index row, double& most) {
        const std::span<const Index> columns = a.pattern.row(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) return;
        const Offset entry = a.pattern.begin(row) + (found - columns.begin());
        for (const double *at = a.tile(entry), *end = a.tile(entry + 1); at != end; ++at) {
          most = std::max(most, std::abs(*at));
        }
      },
      [](double& most, double other) { most = std::max(most, other); });
  return inverse_scale(largest);
}

/// Strong connections of each row, except to itself: `count[row]` columns from where A's row
/// begins.
struct StrongRows {
  UnsetArray<Index> column;
  UnsetArray<Index> count;
};

/// Calls `body(column, squared norm)` for each strong connection of the row.
template <class Body>
void for_each_strong(const TileMatrix& a, const EntryNorms& norms, double factor, Index row,
                     const Body& body) {
  const double own = factor * norms.diagonal[static_cast<std::size_t>(row)];
  for (Offset i = a.pattern.begin(row); i < a.pattern.begin(row + 1); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index column = a.pattern.column[at];
    if (column != row &&
        norms.squared[at] > own * norms.diagonal[static_cast<std::size_t>(column)]) {
      body(column, norms.squared[at]);
    }
  }
}

StrongRows strong_rows(const TileMatrix& a, const EntryNorms& norms, double factor,
                       const Stream& host) {
  StrongRows strong{UnsetArray<Index>(static_cast<std::size_t>(a.pattern.entries())),
                    UnsetArray<Index>(static_cast<std::size_t>(a.rows()))};
  parallel_for(team_size(host, a.pattern.entries()), a.rows(), [&](Index row) {
    Index* const first = strong.column.data() + a.pattern.begin(row);
    Index* to = first;
    for_each_strong(a, norms, factor, row, [&](Index column, double) { *to++ = column; });
    strong.count[static_cast<std::size_t>(row)] = static_cast<Index>(to - first);
  });
  return strong;
}

/// Turns B of one aggregate, whose tiles are `members`, into T, and writes R. Modified
/// Gram-Schmidt, twice.
template <Ring R>
void orthonormalize(std::span<double*> members, const TileShape& shape, double* coarse) {
  constexpr Offset r = ring_size(R);
  using Number = Coefficient<R, double>;
  const int k = shape.width, height = shape.height;
  const auto number = [](const double* at) {
    Number result;
    for (int p = 0; p < r; ++p) result.component[p] = at[p];
    return result;
  };
  const auto for_each_row = [&](const auto& body) {
    for (double* const tile : members) {
      for (Offset i = 0; i < height; ++i) body(tile + i * k * r);
    }
  };
  const auto norm_of = [&](int j) {
    double sum = 0;
    for_each_row([&](const double* row) { sum += squared_norm(number(row + j * r)); });
    return std::sqrt(sum);
  };
  const double rounding = std::sqrt(std::numeric_limits<double>::epsilon());
  std::fill_n(coarse, Offset{k} * k * r, double(0));
  for (int j = 0; j < k; ++j) {
    const double given = norm_of(j);
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < j; ++i) {
        Number along{};
        for_each_row([&](const double* row) {
          add_inner_product(number(row + i * r), number(row + j * r), along.component);
        });
        for_each_row([&](double* row) {
          Number left = number(row + j * r);
          add_multiple(left, number(row + i * r), -along);
          std::copy_n(left.component, r, row + j * r);
        });
        for (int p = 0; p < r; ++p) coarse[(i * k + j) * r + p] += along.component[p];
      }
    }
    const double left = norm_of(j);
    const bool is_dropped = !(left > rounding * given);
    coarse[(j * k + j) * r] = is_dropped ? double(0) : left;
    for_each_row([&](double* row) {
      for (int p = 0; p < r; ++p) row[j * r + p] = is_dropped ? double(0) : row[j * r + p] / left;
    });
  }
}

}  // namespace

double inverse_scale(double largest) {
  return std::ldexp(1, largest > 0 ? std::clamp(-std::ilogb(largest), -1000, 1000) : 0);
}

EntryNorms entry_norms(const TileMatrix& a, const Stream& host) {
  const auto n = static_cast<std::size_t>(a.rows());
  const int team = team_size(host, a.pattern.entries() * a.shape.scalars());
  const double inverse_scale = inverse_scale_of(a, team_size(host, a.rows()));
  EntryNorms norms{UnsetArray<double>(static_cast<std::size_t>(a.pattern.entries())),
                   UnsetArray<double>(n), UnsetArray<unsigned char>(n)};
  if (a.shape.scalars() == 1) {
    parallel_for(
        team, a.rows(),
        [&, squared = norms.squared.data(), numbers = a.values.data(),
         columns = a.pattern.column.data()](Index row) {
          double around = 0, own = 0;
          for (Offset i = a.pattern.begin(row), end = a.pattern.begin(row + 1); i < end; ++i) {
            const double scaled = numbers[i] * inverse_scale;
            squared[i] = scaled * scaled;
            (columns[i] == row ? own : around) += std::abs(scaled);  // root of the rounded square
          }
          norms.diagonal[static_cast<std::size_t>(row)] = own;
          norms.is_coupled[static_cast<std::size_t>(row)] = around > own / 2 ? 1 : 0;
        });
    return norms;
  }
  parallel_for(team, a.rows(), [&](Index row) {
    double around = 0, own = 0;
    for (Offset i = a.pattern.begin(row); i < a.pattern.begin(row + 1); ++i) {
      double sum = 0;
      for (const double *at = a.tile(i), *end = a.tile(i + 1); at != end; ++at) {
        const double scaled = *at * inverse_scale;
        sum += scaled * scaled;
      }
      norms.squared[static_cast<std::size_t>(i)] = sum;
      const bool is_own = a.pattern.column[static_cast<std::size_t>(i)] == row;
      (is_own ? own : around) += std::sqrt(sum);
    }
    norms.diagonal[static_cast<std::size_t>(row)] = own;
    norms.is_coupled[static_cast<std::size_t>(row)] = around > own / 2 ? 1 : 0;
  });
  return norms;
}

Aggregates aggregate(const TileMatrix& a, const EntryNorms& norms, double strength,
                     const Stream& host) {
  const double factor = std::max(strength * strength, min_squared);
  const StrongRows strong = strong_rows(a, norms, factor, host);
  const Index n = a.rows();
  Aggregates result;
  result.of = Array<Index>(static_cast<std::size_t>(n), Device::cpu(host.threads), 0xff);
  result.count = take_roots(
      n,
      [&](Index row) {
        return std::span<const Index>(
            strong.column.data() + a.pattern.begin(row),
            static_cast<std::size_t>(strong.count[static_cast<std::size_t>(row)]));
      },
      result.of.data());
  // Rows join only what the roots took, so that the order of the rows does not matter.
  const UnsetArray<Index> taken(result.of.span());
  result.left = parallel_reduce(
      team_size(host, a.pattern.entries()), n, Index(0),
      [&](Index row, Index& left) {
        if (taken[static_cast<std::size_t>(row)] != Aggregates::none) return;
        Index& own = result.of[static_cast<std::size_t>(row)];
        double strongest = 0;
        for_each_strong(a, norms, factor, row, [&](Index column, double squared) {
          const Index other = taken[static_cast<std::size_t>(column)];
          if (other == Aggregates::none || !(squared > likeness_of_norms * strongest)) return;
          strongest = squared;
          own = other;
        });
        if (own == Aggregates::none) left += norms.is_coupled[static_cast<std::size_t>(row)];
      },
      [](Index& left, Index other) { left += other; });
  return result;
}

TileMatrix tentative_prolongation(const Aggregates& aggregates, const TileShape& shape,
                                  UnsetArray<double>& candidates, const Stream& host) {
  const auto n = static_cast<Index>(aggregates.of.size());
  TileMatrix t;
  t.shape = shape;
  t.columns = aggregates.count;
  t.pattern.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  for (Index row = 0; row < n; ++row) {
    const auto at = static_cast<std::size_t>(row);
    t.pattern.offsets[at + 1] = t.pattern.offsets[at] + (aggregates.of[at] >= 0 ? 1 : 0);
  }
  t.pattern.column = Array<Index>(static_cast<std::size_t>(t.pattern.entries()));
  t.make_values();
  parallel_for(team_size(host, n), n, [&](Index row) {
    const Index to = aggregates.of[static_cast<std::size_t>(row)];
    if (to == Aggregates::none) return;
    const Offset entry = t.pattern.begin(row);
    t.pattern.column[static_cast<std::size_t>(entry)] = to;
    std::copy_n(candidates.data() + static_cast<Offset>(row) * shape.scalars(), shape.scalars(),
                t.tile(entry));
  });
  Array<Offset> place;
  const UserRows members = transposed(t.pattern, t.columns, host, place);
  const Offset of_coarse = static_cast<Offset>(shape.width) * shape.width * shape.ring;
  candidates = UnsetArray<double>(static_cast<std::size_t>(aggregates.count * of_coarse));
  const long long work = t.pattern.entries() * shape.scalars() * shape.width;
  parallel_shares(team_size(host, work), aggregates.count, 0, [&](auto&& for_each) {
    std::vector<double*> tiles;
    for_each([&](Index one) {
      tiles.clear();
      for (const Index row : members.row(one)) tiles.push_back(t.tile(t.pattern.begin(row)));
      double* const coarse = candidates.data() + one * of_coarse;
      if (shape.ring == ring_size(Ring::real)) {
        orthonormalize<Ring::real>(tiles, shape, coarse);
      } else if (shape.ring == ring_size(Ring::complex)) {
        orthonormalize<Ring::complex>(tiles, shape, coarse);
      } else {
        orthonormalize<Ring::quaternion>(tiles, shape, coarse);
      }
    });
  });
  return t;
}

namespace {

/// tile = t - omega inverse tile; a null t counts as 0. H and W are the tile's sizes, or 0.
template <Ring R, int H = 0, int W = 0>
void smooth_tile(const double* inverse, double omega, const double* t, const TileShape& shape,
                 double* tile, double* product) {
  const int height = H > 0 ? H : shape.height, width = W > 0 ? W : shape.width;
  const int scalars = height * width * ring_size(R);
  std::fill_n(product, scalars, double(0));
  add_product_of_tiles<R>(product, inverse, tile, height, height, width);
  for (int k = 0; k < scalars; ++k) tile[k] = (t != nullptr ? t[k] : 0) - omega * product[k];
}

using SmoothTile = decltype(&smooth_tile<Ring::real>);

/// `smooth_tile`, with the most frequent tile sizes as constants.
SmoothTile smooth_tile_of(const TileShape& shape) {
  if (shape.ring == ring_size(Ring::complex)) return smooth_tile<Ring::complex>;
  if (shape.ring == ring_size(Ring::quaternion)) return smooth_tile<Ring::quaternion>;
  if (shape.height == 3 && shape.width == 3) return smooth_tile<Ring::real, 3, 3>;
  if (shape.height == 3 && shape.width == 6) return smooth_tile<Ring::real, 3, 6>;
  if (shape.height == 6 && shape.width == 6) return smooth_tile<Ring::real, 6, 6>;
  return smooth_tile<Ring::real>;
}

}  // namespace

void smooth_prolongation(const UnsetArray<double>& inverse, double omega, const TileMatrix& t,
                         TileMatrix& p, SetupScratch& scratch, const Stream& host) {
  if (p.shape.scalars() == 1) {
    return parallel_for(team_size(host, p.pattern.entries()), p.rows(), [&](Index row) {
      const std::span<const Index> own = t.pattern.row(row);
      const double factor = omega * inverse[static_cast<std::size_t>(row)];
      for (Offset e = p.pattern.begin(row); e < p.pattern.begin(row + 1); ++e) {
        double& number = *p.tile(e);
        const bool is_own =
            !own.empty() && own.front() == p.pattern.column[static_cast<std::size_t>(e)];
        number = (is_own ? *t.tile(t.pattern.begin(row)) : 0) - factor * number;
      }
    });
  }
  const SmoothTile smooth = smooth_tile_of(p.shape);
  const Offset of_diagonal = static_cast<Offset>(p.shape.height) * p.shape.height * p.shape.ring;
  const long long work = p.pattern.entries() * p.shape.scalars() * p.shape.height;
  const int team = team_size(host, work);
  scratch.numbers.reserve(team, static_cast<std::size_t>(p.shape.scalars()));
  numbered_shares(team, p.rows(), 0, [&](int thread, auto&& for_each) {
    double* const product = scratch.numbers.of_thread(thread);
    for_each([&](Index row) {
      const std::span<const Index> own = t.pattern.row(row);
      for (Offset e = p.pattern.begin(row); e < p.pattern.begin(row + 1); ++e) {
        const bool is_own =
            !own.empty() && own.front() == p.pattern.column[static_cast<std::size_t>(e)];
        smooth(inverse.data() + row * of_diagonal, omega,
               is_own ? t.tile(t.pattern.begin(row)) : nullptr, p.shape, p.tile(e), product);
      }
    });
  });
}

void energy_scales(const TileMatrix& a, std::span<const double> below,
                   const TileMatrix& restriction, Array<double>& diagonal, Array<double>& scales,
                   const Stream& host) {
  const auto [height, width, ring] = a.shape;
  const Offset v = height, r = ring;
  parallel_for(team_size(host, a.pattern.entries()), a.rows(), [&](Index row) {
    const std::span<const Index> columns = a.pattern.row(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row) - columns.begin();
    const double* const tile = a.tile(a.pattern.begin(row) + found);
    double largest = below.empty() ? 0 : below[static_cast<std::size_t>(row)];
    for (int i = 0; i < v; ++i) largest = std::max(largest, std::abs(tile[(i * v + i) * r]));
    diagonal[static_cast<std::size_t>(row)] = largest;
  });
  const long long work = restriction.pattern.entries() * restriction.shape.scalars();
  parallel_for(team_size(host, work), restriction.rows(), [&](Index row) {
    double sum = 0;
    for (Offset e = restriction.pattern.begin(row); e < restriction.pattern.begin(row + 1); ++e) {
      double squared = 0;
      for (const double *at = restriction.tile(e), *end = restriction.tile(e + 1); at != end;
           ++at) {
        squared += *at * *at;
      }
      const Index fine = restriction.pattern.column[static_cast<std::size_t>(e)];
      sum += squared * diagonal[static_cast<std::size_t>(fine)];
    }
    scales[static_cast<std::size_t>(row)] = sum;
  });
}

}  // namespace heddle::detail
