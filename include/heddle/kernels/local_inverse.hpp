// A row of an approximate inverse, or a block of block Jacobi's, by a team of lanes: its dense
// system is gathered from the matrix's sliced storage, solved, and stored into that of the inverse.
#pragma once

#include "heddle/kernels/local_systems.hpp"
#include "heddle/kernels/stored_layout.hpp"

namespace heddle::device {

/// Lowers `*at` to `value` if that is less.
HEDDLE_INLINE void lower_to(Index* at, Index value) {
#if defined(__CUDA_ARCH__)
  atomicMin(at, value);
#else
  if (value < *at) *at = value;
#endif
}

/// Loads that a lane has in flight at once.
inline constexpr int loads_together = 4;

// `Plan` below is a struct of constants that the host writes into the program:
//   From, To: layouts of the matrix and of the inverse, see stored_layout.hpp;
//   part, size, ring: the part of the inverse and the tile of an entry;
//   component_of(t), sign_of(t): number t of a tile as a component with a sign, and
//   number_of(k), sign_of_component(k) the way back;
//   is_plain: a tile is the entry's components, one by one.

/// The local entry that is column `column` of the basis, or -1.
template <class Memory>
HEDDLE_INLINE int entry_at(const Memory& m, bool is_natural, Index column) {
  const Index* const sorted = is_natural ? m.position : m.sorted;
  int begin = 0, end = m.entries;
  while (end - begin > 1) {
    const int middle = (begin + end) / 2;
    if (sorted[middle] <= column) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  if (sorted[begin] != column) return -1;
  return is_natural ? begin : m.local[begin];
}

/// Finds the row's columns, in the user's order: a basis has rows and columns in another.
template <class Plan, class Team, class Arguments, class Memory>
HEDDLE_INLINE void find_columns(const Team& team, const Arguments& a, const RowPlace& place,
                                Index own, const Memory& m) {
  const int n = m.entries;
  const auto put = [&](int b, Index position, int entry) {
    m.position[b] = position;
    m.entry[b] = entry;
    if (position == own) m.failed[row_failures] = b;
  };
  team.each([&](int lane) {
    const int tiles = static_cast<int>(m.tiles());
    for (int i = lane; i < tiles; i += team.lanes) m.slot[i] = -1;
    for (int i = lane; i < row_failures; i += team.lanes) m.failed[i] = 0;
    for (int e = lane; e < n; e += team.lanes) {
      const Index position = a.G.column[place.template slot<typename Plan::To>(a.G, e)];
      if (a.user_row == nullptr) {
        put(e, position, e);
        continue;
      }
      m.local[e] = position;
      m.sorted[e] = a.user_row[position];
    }
  });
  if (a.user_row == nullptr) return;
  const auto rank_among = [&](const Index* all, Index value) {
    int rank = 0;
    for (int other = 0; other < n; ++other) rank += all[other] < value;
    return rank;
  };
  team.each([&](int lane) {
    for (int e = lane; e < n; e += team.lanes) {
      put(rank_among(m.sorted, m.sorted[e]), m.local[e], e);
    }
  });
  team.each([&](int lane) {
    for (int b = lane; b < n; b += team.lanes) {
      const int rank = rank_among(m.position, m.position[b]);
      m.sorted[rank] = m.position[b];
      m.local[rank] = b;
    }
  });
}

/// Finds the slots of the tiles that the matrix has between the row's columns.
template <class Plan, class Team, class Arguments, class Memory>
HEDDLE_INLINE void find_tiles(const Team& team, const Arguments& a, const Memory& m) {
  const int n = m.entries;
  team.each([&](int lane) {
    for (int i = lane; i < n; i += team.lanes) {
      const Index row = a.stored_row != nullptr ? a.stored_row[m.position[i]] : m.position[i];
      const RowPlace source = place_of_row<typename Plan::From>(a.A, row);
      for (int e = 0; e < source.length; e += loads_together) {
        Offset slot[loads_together];
        Index column[loads_together];
        HEDDLE_UNROLL for (int u = 0; u < loads_together; ++u) {
          const int at = e + u < source.length ? e + u : source.length - 1;
          slot[u] = source.template slot<typename Plan::From>(a.A, at);
          column[u] = a.A.column[slot[u]];
        }
        HEDDLE_UNROLL for (int u = 0; u < loads_together; ++u) {
          const int j = entry_at(m, a.user_row == nullptr, column[u]);
          if (Memory::is_factor) {
            if (j >= i) m.slot[Memory::triangle(j, i)] = slot[u];
          } else if (j >= 0) {
            m.slot[Offset(i) * n + j] = slot[u];
          }
        }
      }
    }
  });
}

/// Neighbouring lanes load neighbouring components.
template <class Plan, class Team, class Arguments, class Memory>
HEDDLE_INLINE void fill_matrix(const Team& team, const Arguments& a, const Memory& m) {
  constexpr int V = Plan::size, r = ring_size(Plan::ring), numbers = V * V * r;
  team.each([&](int lane) {
    const int all = static_cast<int>(m.tiles()) * numbers;
    for (int first = lane; first < all; first += loads_together * team.lanes) {
      double value[loads_together];
      HEDDLE_UNROLL for (int u = 0; u < loads_together; ++u) {
        const int at = first + u * team.lanes;
        value[u] = 0;
        if (at >= all) continue;
        const Offset slot = m.slot[at / numbers];
        const int t = at % numbers;
        if (slot < 0) continue;
        value[u] = static_cast<double>(
            a.A.values[scalar_at<typename Plan::From>(a.A, slot, Plan::component_of(t))]);
        value[u] *= Plan::sign_of(t);
      }
      HEDDLE_UNROLL for (int u = 0; u < loads_together; ++u) {
        const int at = first + u * team.lanes;
        if (at >= all) continue;
        const int tile = at / numbers, t = at % numbers;
        const int i = t / r / V, j = t / r % V, p = t % r;
        if constexpr (Memory::is_factor) {
          // Tiles above the diagonal become their adjoints below it.
          m.matrix[Offset(tile) * numbers + (j * V + i) * r + p] = p > 0 ? -value[u] : value[u];
        } else {
          const int row = tile / m.entries, column = tile % m.entries;
          m.number_at(row * V + i, column * V + j)[p] = value[u];
        }
      }
    }
  });
}

/// Number (i, j), scalar p, of tile b of the row; or of the adjoint of that tile.
template <class Plan>
HEDDLE_INLINE double number_of_result(const double* result, int b, int t, bool is_adjoint) {
  constexpr int V = Plan::size, r = ring_size(Plan::ring), numbers = V * V * r;
  if (!is_adjoint) return result[Offset(b) * numbers + t];
  const int i = t / r / V, j = t / r % V, p = t % r;
  const double value = result[Offset(b) * numbers + (j * V + i) * r + p];
  return p > 0 ? -value : value;
}

/// True if number t of a tile is what the entry makes of its components, except for rounding.
template <class Plan>
HEDDLE_INLINE bool agrees(const double* result, int b, int t, bool is_adjoint, double tolerance) {
  const int k = Plan::component_of(t);
  const double expected = Plan::sign_of(t) * Plan::sign_of_component(k) *
                          number_of_result<Plan>(result, b, Plan::number_of(k), is_adjoint);
  return absolute(number_of_result<Plan>(result, b, t, is_adjoint) - expected) <= tolerance;
}

/// Stores a row's tiles as entries; none for a place without a row.
template <class Plan, class Team, class Arguments, class Memory>
HEDDLE_INLINE void store_row(const Team& team, const Arguments& a, const RowPlace& place,
                             const double* result, const Memory& m) {
  constexpr int V = Plan::size, numbers = V * V * ring_size(Plan::ring);
  constexpr int K = Plan::To::components;
  const int entries = place.length;
  const auto put = [&](auto* values, Offset at, double value) {
    values[at] = static_cast<typename Plan::To::scalar>(value);
    const double stored = static_cast<double>(values[at]);
    if (!is_finite(stored)) m.failed[is_finite(value) ? row_overflows : row_is_singular] = 1;
  };
  team.each([&](int lane) {
    for (int at = lane; at < entries * K; at += team.lanes) {
      const int b = at / K, k = at % K, t = Plan::number_of(k);
      const double sign = Plan::sign_of_component(k);
      const Offset slot = place.template slot<typename Plan::To>(a.G, m.entry[b]);
      put(a.first, scalar_at<typename Plan::To>(a.G, slot, k),
          sign * number_of_result<Plan>(result, b, t, false));
      if constexpr (Memory::is_factor) {
        Matrix<typename Plan::To::scalar> second = a.G;
        second.slots = a.second_slots;
        put(a.second, scalar_at<typename Plan::To>(second, a.second_slot[slot], k),
            sign * number_of_result<Plan>(result, b, t, true));
      }
    }
    if constexpr (!Plan::is_plain) {
      // A tile that is zero except for rounding has the rounding errors of the row's other tiles.
      double largest = 0;
      for (int at = 0; at < entries * numbers; ++at) {
        const double size = absolute(result[at]);
        largest = size > largest ? size : largest;
      }
      const double tolerance = 1.4901161193847656e-08 * largest;
      for (int at = lane; at < entries * numbers; at += team.lanes) {
        const int b = at / numbers, t = at % numbers;
        bool is_entry = agrees<Plan>(result, b, t, false, tolerance);
        if constexpr (Memory::is_factor) {
          is_entry = is_entry && agrees<Plan>(result, b, t, true, tolerance);
        }
        if (!is_entry) m.failed[row_is_no_entry] = 1;
      }
    }
  });
}

/// Reports the failures of the row at `own` in the basis, and forgets them. A block without inverse
/// is named by its first row.
template <class Team, class Arguments, class Memory>
HEDDLE_INLINE void report_row(const Team& team, const Arguments& a, Index first, Index own,
                              const Memory& m) {
  team.each([&](int lane) {
    for (int kind = lane; kind < row_failures && own >= 0; kind += team.lanes) {
      if (m.failed[kind] == 0) continue;
      m.failed[kind] = 0;
      const Index row = kind == row_is_singular ? first : own;
      lower_to(a.failed[kind], a.user_row != nullptr ? a.user_row[row] : row);
    }
  });
}

/// Stores the rows of a block one after another: each becomes a row of tiles in `m.result`.
template <class Plan, class Team, class Arguments, class Memory>
HEDDLE_INLINE void store_block(const Team& team, const Arguments& a, Index first, const Memory& m) {
  constexpr int V = Plan::size, r = ring_size(Plan::ring);
  const int n = m.numbers(), most = team.most(m.entries);
  for (int row = 0; row < most; ++row) {
    const bool is_row = row < m.entries;
    const Index own = is_row ? m.position[row] : -1;
    team.each([&](int lane) {
      for (int at = lane; at < V * n && is_row; at += team.lanes) {
        const int c = at / n, j = at % n;
        stored(loaded<Plan::ring>(m.number_at(row * V + c, j)),
               m.result + (Offset(j / V) * V * V + c * V + j % V) * r);
      }
    });
    RowPlace place{};
    if (is_row) {
      place = place_of_row<typename Plan::To>(
          a.G, a.row_of_inverse != nullptr ? a.row_of_inverse[own] : own);
    }
    store_row<Plan>(team, a, place, m.result, m);
    report_row(team, a, first, own, m);
  }
}

/// Inverts row number `of` of `a.rows`, or the block that begins with it, in a workspace of
/// `a.words` words. A number beyond the rows only takes part in the team's phases.
template <class Plan, class Team, class Arguments>
HEDDLE_INLINE void invert_row(const Team& team, const Arguments& a, Offset of, double* words) {
  RowPlace place{};
  Index own = -1;
  if (of < a.count) {
    const Index stored = a.rows[of];
    place = place_of_row<typename Plan::To>(a.G, stored);
    own = a.G.target != nullptr ? a.G.target[stored] : stored;
  }
  const LocalMemory<Plan::part, Plan::size, Plan::ring> m(words, place.length);
  find_columns<Plan>(team, a, place, own, m);
  find_tiles<Plan>(team, a, m);
  fill_matrix<Plan>(team, a, m);
  if constexpr (Plan::part == InversePart::block) {
    solve_block(team, m, a.mirror_tolerance);
    store_block<Plan>(team, a, own, m);
  } else if constexpr (Plan::part == InversePart::factor_row) {
    solve_factor(team, m);
    store_row<Plan>(team, a, place, m.result, m);
    report_row(team, a, own, own, m);
  } else {
    solve_rows(team, m);
    store_row<Plan>(team, a, place, m.matrix, m);
    report_row(team, a, own, own, m);
  }
}

}  // namespace heddle::device
