// The first set-up of a hierarchy on a GPU, row by row, by the lanes of a team (tile_rows.hpp).
#pragma once

#include "heddle/detail/slice_arithmetic.hpp"
#include "solvers/tiles/tile_rows.hpp"

namespace heddle::device {

/// A product that is never fused with a sum: the CPU's bits decide strength.
HEDDLE_INLINE double product_alone(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// Rows of sliced storage; each pointer after `column` is null for the natural order.
struct SlicedRows {
  SlicesView slices;
  const Index* row_length = nullptr;  // null for C = 1
  const Index* column = nullptr;      // column of each slot
  const Index* target = nullptr;
  const Index* row_of_user = nullptr;
  const Index* column_of_user = nullptr;

  HEDDLE_INLINE Index user_row(Index stored) const {
    const Index row = target != nullptr ? target[stored] : stored;
    return row_of_user != nullptr ? row_of_user[row] : row;
  }
  HEDDLE_INLINE Index length(Index stored) const {
    return row_length != nullptr
               ? row_length[stored]
               : static_cast<Index>(slices.offset[stored + 1] - slices.offset[stored]);
  }
  /// Columns of a row as the user numbers them, increasing, and their slots, by one of `lanes`
  /// threads. Each thread ranks its entries among those of the row, except in long rows.
  HEDDLE_INLINE void list(Index stored, int lane, int lanes, Index* columns, Offset* slots) const {
    constexpr Index longest_ranked = 64;
    const SlicesView::RowPlace place = slices.place_of(stored);
    const Index count = length(stored);
    const auto slot_at = [&](Index j) {
      return slot_of(place.offset, slices.C, place.T, place.r, j);
    };
    const auto column_at = [&](Offset slot) {
      const Index inside = column[slot];
      return column_of_user != nullptr ? column_of_user[inside] : inside;
    };
    if (count <= longest_ranked) {
      for (Index j = lane; j < count; j += lanes) {
        const Offset slot = slot_at(j);
        const Index own = column_at(slot);
        Index rank = 0;
        for (Index k = 0; k < count; ++k) rank += column_at(slot_at(k)) < own ? 1 : 0;
        columns[rank] = own;
        slots[rank] = slot;
      }
      return;
    }
    if (lane != 0) return;
    bool grows = true;
    for (Index j = 0; j < count; ++j) {
      slots[j] = slot_at(j);
      columns[j] = column_at(slots[j]);
      grows = grows && (j == 0 || columns[j - 1] < columns[j]);
    }
    if (!grows) sort(columns, slots, count);
  }

 private:
  /// Heap sort, for any length.
  HEDDLE_INLINE static void sort(Index* columns, Offset* slots, Index count) {
    const auto exchange = [&](Index i, Index j) {
      const Index column = columns[i];
      const Offset slot = slots[i];
      columns[i] = columns[j], slots[i] = slots[j];
      columns[j] = column, slots[j] = slot;
    };
    const auto sink = [&](Index root, Index end) {
      for (Index child = 2 * root + 1; child < end; child = 2 * root + 1) {
        if (child + 1 < end && columns[child] < columns[child + 1]) ++child;
        if (columns[root] >= columns[child]) return;
        exchange(root, child);
        root = child;
      }
    };
    for (Index root = count / 2; root > 0; --root) sink(root - 1, count);
    for (Index end = count - 1; end > 0; --end) {
      exchange(0, end);
      sink(0, end);
    }
  }
};

/// `detail::EntryNorms` of a matrix of tiles.
struct NormRows {
  TilePattern a;
  const double* values = nullptr;
  double inverse_scale = 1;  // a power of two
  int scalars = 1;           // per tile
  double* squared = nullptr;
  double* diagonal = nullptr;
  unsigned char* is_coupled = nullptr;
};

/// Gives the CPU's bits: one lane computes each sum.
template <class Team>
HEDDLE_INLINE void norms_of_row(const Team& team, const NormRows& n, Index row) {
  const Offset first = n.a.offsets[row], end = n.a.offsets[row + 1];
  team.each([&](int lane) {
    for (Offset e = first + lane; e < end; e += team.lanes) {
      double sum = 0;
      for (int t = 0; t < n.scalars; ++t) {
        const double scaled = n.values[e * n.scalars + t] * n.inverse_scale;
        sum += product_alone(scaled, scaled);
      }
      n.squared[e] = sum;
    }
  });
  team.each([&](int lane) {
    if (lane != 0) return;
    double around = 0, own = 0;
    for (Offset e = first; e < end; ++e) {
      (n.a.column[e] == row ? own : around) += __builtin_sqrt(n.squared[e]);
    }
    n.diagonal[row] = own;
    n.is_coupled[row] = around > own / 2 ? 1 : 0;
  });
}

/// Strong connections of rows (`detail::aggregate`).
struct StrongRows {
  TilePattern a;
  const double* squared = nullptr;
  const double* diagonal = nullptr;
  double factor = 0;

  /// Calls `body(column, squared norm)` for each strong connection of the row.
  template <class Body>
  HEDDLE_INLINE void each(Index row, const Body& body) const {
    const double own = factor * diagonal[row];
    for (Offset e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      const Index column = a.column[e];
      if (column != row && squared[e] > own * diagonal[column]) body(column, squared[e]);
    }
  }
  HEDDLE_INLINE Offset count(Index row) const {
    Offset count = 0;
    each(row, [&](Index, double) { ++count; });
    return count;
  }
  HEDDLE_INLINE void list(Index row, Index* to) const {
    each(row, [&](Index column, double) { *to++ = column; });
  }
  /// The aggregate of a row: that of the root that took it, or the one that it joins, or -1.
  HEDDLE_INLINE Index aggregate(Index row, const Index* taken, double likeness) const {
    if (taken[row] >= 0) return taken[row];
    Index own = -1;
    double strongest = 0;
    each(row, [&](Index column, double norm) {
      if (taken[column] < 0 || !(norm > likeness * strongest)) return;
      strongest = norm;
      own = taken[column];
    });
    return own;
  }
};

/// Candidates on aggregates become T R (`detail::tentative_prolongation`).
struct TentativeRows {
  TilePattern members;                 // the rows of each aggregate
  const Offset* entry = nullptr;       // T's entry in each row
  const double* candidates = nullptr;  // a tile per row
  double* tentative = nullptr;
  double* coarse = nullptr;  // R: a tile per aggregate
  double rounding = 0;
  int height = 1, width = 1;
};

/// Modified Gram-Schmidt, twice.
template <Ring R, class Team>
HEDDLE_INLINE void orthonormalize(const Team& team, const TentativeRows& q, Index one) {
  constexpr Offset r = ring_size(R);
  const int k = q.width;
  const Offset first = q.members.offsets[one],
               rows = (q.members.offsets[one + 1] - first) * q.height;
  const Offset of_row = Offset(k) * r;
  double* const coarse = q.coarse + Offset(one) * k * k * r;
  const auto row_at = [&](Offset t) {
    const Offset member = q.members.column[first + t / q.height];
    return q.tentative + (q.entry[member] * q.height + t % q.height) * of_row;
  };
  team.each([&](int lane) {
    for (Offset t = lane; t < rows; t += team.lanes) {
      const Offset member = q.members.column[first + t / q.height];
      const double* const from = q.candidates + (member * q.height + t % q.height) * of_row;
      double* const to = row_at(t);
      for (int p = 0; p < of_row; ++p) to[p] = from[p];
    }
    for (Offset t = lane; t < Offset(k) * k * r; t += team.lanes) coarse[t] = 0;
  });
  const auto norm_of = [&](int j) {
    return __builtin_sqrt(team.sum([&](int lane) {
      double part = 0;
      for (Offset t = lane; t < rows; t += team.lanes) {
        part += squared_norm(loaded<R>(row_at(t) + j * r));
      }
      return part;
    }));
  };
  for (int j = 0; j < k; ++j) {
    const double given = norm_of(j);
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < j; ++i) {
        Coefficient<R, double> along{};
        for (int p = 0; p < r; ++p) {
          along.component[p] = team.sum([&](int lane) {
            double part[r] = {};
            for (Offset t = lane; t < rows; t += team.lanes) {
              const double* const row = row_at(t);
              add_inner_product(loaded<R>(row + i * r), loaded<R>(row + j * r), part);
            }
            return part[p];
          });
        }
        team.each([&](int lane) {
          for (Offset t = lane; t < rows; t += team.lanes) {
            double* const row = row_at(t);
            auto left = loaded<R>(row + j * r);
            add_multiple(left, loaded<R>(row + i * r), -along);
            stored(left, row + j * r);
          }
          if (lane != 0) return;
          for (int p = 0; p < r; ++p) coarse[(i * k + j) * r + p] += along.component[p];
        });
      }
    }
    const double left = norm_of(j);
    const bool is_dropped = !(left > q.rounding * given);
    team.each([&](int lane) {
      if (lane == 0) coarse[(j * k + j) * r] = is_dropped ? 0 : left;
      for (Offset t = lane; t < rows; t += team.lanes) {
        double* const row = row_at(t) + j * r;
        for (int p = 0; p < r; ++p) row[p] = is_dropped ? 0 : row[p] / left;
      }
    });
  }
}

}  // namespace heddle::device
