// Products of sparse matrices of tiles on kept patterns by the lanes of a team (tile_rows.hpp). A
// tile of C is added up by one team in the order of the CPU's sums (tile_products.cpp), or by
// several teams in pieces of its row, whose sums are then added in their order.
#pragma once

#include <cstdint>

#include "heddle/kernels/local_systems.hpp"

namespace heddle::device {

/// Compressed rows in the user's order; `column` is null if it is not read.
struct TilePattern {
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Index* column = nullptr;
};

/// `detail::ProductPlaces`.
struct TermPlaces {
  const void* of_terms = nullptr;
  int bytes = 1;                   // per place
  const Offset* first = nullptr;   // first place of each row of C
  const Offset* mirror = nullptr;  // null unless C is Hermitian and half of it is summed

  HEDDLE_INLINE Offset operator[](Offset i) const {
    switch (bytes) {
      case 1:
        return static_cast<const std::uint8_t*>(of_terms)[i];
      case 2:
        return static_cast<const std::uint16_t*>(of_terms)[i];
      default:
        return static_cast<const std::uint32_t*>(of_terms)[i];
    }
  }
};

/// `detail::ProductPieces`, and the memory of their sums.
struct RowPieces {
  Index count = 0;                // 0: rows are added up whole
  const Index* row = nullptr;     // row of each piece
  const Offset* entry = nullptr;  // first entry of each piece in A, and the end of the last piece
  const Offset* place = nullptr;  // place of each piece's first term
  const Index* first = nullptr;   // first piece of each row of C, and their end
  double* sums = nullptr;         // `sums_size` scalars for each piece
  Offset sums_size = 0;
};

/// C = A B, of tiles of height x middle and middle x width numbers.
struct TileProduct {
  TilePattern a, b, c;
  const double* left = nullptr;
  const double* right = nullptr;
  double* result = nullptr;
  TermPlaces places;
  const Offset* diagonal = nullptr;  // C's diagonal entries, one per row, if there is a mirror
  int height = 1, middle = 1, width = 1;
  RowPieces pieces{};
  bool grows = false;     // the columns of B's rows increase
  bool one_each = false;  // B's rows have at most one tile
  int windows = 1;        // windows per row (`RowUnit`); B's columns increase if there are several
};

/// How many numbers of a tile of C, one under another, a lane adds up together: it then reads fewer
/// numbers for each product. 1 where sizes are 0.
HEDDLE_HD constexpr int numbers_down(int height) { return height > 0 && height % 3 == 0 ? 3 : 1; }

/// A team's unit of work: a window of a row of C, or of a piece of one, with as many tiles as the
/// team has room for. All first windows come before all second ones, since many rows have only one.
/// The first unit of a row that is longer than all its windows adds up the row in place.
struct RowUnit {
  Index n, row;       // number among the pieces, or rows; the row
  Offset begin, end;  // tiles of the row
  bool is_in_place = false;
  bool takes_all_terms = false;

  HEDDLE_INLINE RowUnit(const TileProduct& p, Index unit, Offset tiles) {
    const bool is_piece = p.pieces.count > 0;
    const Index count = is_piece ? p.pieces.count : p.c.rows;
    const int windows = p.windows, window = unit / count;
    n = unit - window * count;
    row = is_piece ? p.pieces.row[n] : n;
    const Offset first = p.c.offsets[row], length = p.c.offsets[row + 1] - first;
    begin = p.places.mirror != nullptr ? p.diagonal[row] - first : 0;
    end = length;
    if (length - begin > tiles * windows) {
      is_in_place = takes_all_terms = true;
      if (window > 0) end = begin;
      return;
    }
    takes_all_terms = length - begin <= tiles;
    begin += window * tiles;
    if (begin + tiles < end) end = begin + tiles;
  }
};

/// Tiles of B that an entry of A is multiplied by. `place`: that of the first, relative to the
/// place of a batch's first term.
struct alignas(2 * sizeof(Offset)) EntryTerms {
  Offset begin;
  int count, place;
};

/// Puts number `at` of tile k of C's row, and its conjugate in the mirror.
template <Ring R>
HEDDLE_INLINE void put_sum(const TileProduct& p, Index row, Offset k, int at,
                           const Coefficient<R, double>& sum) {
  constexpr Offset r = ring_size(R);
  const Offset entry = p.c.offsets[row] + k, numbers = Offset(p.height) * p.width;
  stored(sum, p.result + (entry * numbers + at) * r);
  if (p.places.mirror == nullptr) return;
  const Offset other = p.places.mirror[entry];
  if (other == entry) return;
  const int i = at / p.width, w = at - i * p.width;
  stored(conj(sum), p.result + (other * numbers + Offset(w) * p.height + i) * r);
}

/// The first place of a row's terms: after the counts of tiles of B that each entry of A leaves
/// out, if there is a mirror.
HEDDLE_INLINE Offset first_term(const TileProduct& p, Index row) {
  const Offset entries = p.a.offsets[row + 1] - p.a.offsets[row];
  return p.places.first[row] + (p.places.mirror != nullptr ? entries : 0);
}
HEDDLE_INLINE EntryTerms terms_of(const TileProduct& p, Index row, Offset e) {
  const Index other = p.a.column[e];
  const Offset end = p.b.offsets[other + 1];
  Offset begin = p.b.offsets[other];
  if (p.places.mirror != nullptr) begin += p.places[p.places.first[row] + (e - p.a.offsets[row])];
  return {begin, static_cast<int>(end - begin), 0};
}
/// Keeps only those in the window, as places increase with the columns of B's row. `first`: the
/// batch's.
HEDDLE_INLINE void keep_window(const TileProduct& p, Offset first, const RowUnit& unit,
                               EntryTerms& terms) {
  const auto before = [&](Offset place) {
    int begin = 0, end = terms.count;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      p.places[first + terms.place + middle] < place ? begin = middle + 1 : end = middle;
    }
    return begin;
  };
  const int end = before(unit.end), begin = before(unit.begin);
  terms = {terms.begin + begin, end - begin, terms.place + begin};
}

/// Adds a lane's part of the products of entry e of A, whose places begin at `place`, to the sums
/// of a unit.
template <Ring R, int H, int M, int W>
HEDDLE_INLINE void add_products(int lane, int lanes, const TileProduct& p, Offset e,
                                const EntryTerms& terms, Offset place, double* sums) {
  constexpr Offset r = ring_size(R);
  constexpr int I = numbers_down(H);
  const int height = H > 0 ? H : p.height, middle = M > 0 ? M : p.middle,
            width = W > 0 ? W : p.width;
  const int numbers = height * width, shares = numbers / I;
  for (int t = lane; t < terms.count * shares; t += lanes) {
    const int j = t / shares, share = t - j * shares, down = share / width;
    const int i = down * I, w = share - down * width;
    const double* const left = p.left + (e * height + i) * middle * r;
    const double* const right = p.right + ((terms.begin + j) * middle * width + w) * r;
    double* const to = sums + (p.places[place + j] * numbers + Offset(i) * width + w) * r;
    Coefficient<R, double> sum[I];
    HEDDLE_UNROLL for (int k = 0; k < I; ++k) sum[k] = loaded<R>(to + k * r * width);
    HEDDLE_UNROLL for (int m = 0; m < middle; ++m) {
      HEDDLE_UNROLL for (int k = 0; k < I; ++k) {
        multiply_add_at<R>(sum[k].component, left + (k * middle + m) * r, right + m * r * width);
      }
    }
    HEDDLE_UNROLL for (int k = 0; k < I; ++k) stored(sum[k], to + k * r * width);
  }
}

/// Adds the terms of a unit to its sums. Each lane looks up where one entry's terms lie, since
/// every lookup waits for the one before.
template <Ring R, int H, int M, int W, class Team>
HEDDLE_INLINE void add_terms(const Team& team, const TileProduct& p, const RowUnit& unit,
                             EntryTerms* terms, double* sums) {
  const bool is_piece = p.pieces.count > 0;
  const Offset* const entry = is_piece ? p.pieces.entry + unit.n : p.a.offsets + unit.row;
  const Offset stop = entry[1];
  Offset place = is_piece ? p.pieces.place[unit.n] : first_term(p, unit.row);
  for (Offset batch = entry[0]; batch < stop; batch += team.lanes) {
    const int count = static_cast<int>(stop - batch < team.lanes ? stop - batch : team.lanes);
    team.each([&](int lane) {
      if (lane < count) terms[lane] = terms_of(p, unit.row, batch + lane);
    });
    team.each([&](int lane) {
      int before = 0;
      for (int k = 0; k < lane && lane < count; ++k) before += terms[k].count;
      if (lane < count) terms[lane].place = before;
    });
    const Offset next = place + terms[count - 1].place + terms[count - 1].count;
    if (!unit.takes_all_terms) {
      team.each([&](int) {});
      team.each([&](int lane) {
        if (lane < count) keep_window(p, place, unit, terms[lane]);
      });
    }
    for (int k = 0; k < count; ++k) {
      const EntryTerms own = terms[k];
      team.each([&](int lane) {
        add_products<R, H, M, W>(lane, team.lanes, p, batch + k, own, place + own.place, sums);
      });
    }
    place = next;
  }
}

/// Multiplies a unit of C's rows, or of pieces of rows. `scratch`: for the sums of `tiles` tiles;
/// `terms`: one for each lane.
template <Ring R, int H, int M, int W, class Team>
HEDDLE_INLINE void multiply_row(const Team& team, const TileProduct& p, Index number,
                                double* scratch, Offset tiles, EntryTerms* terms) {
  constexpr int r = ring_size(R);
  const RowUnit unit(p, number, tiles);
  if (unit.begin >= unit.end) return;
  const bool is_piece = p.pieces.count > 0;
  const Offset numbers = H > 0 ? H * W : p.height * p.width;
  double* const target = (is_piece ? p.pieces.sums + unit.n * p.pieces.sums_size
                                   : p.result + p.c.offsets[unit.row] * numbers * r) +
                         unit.begin * numbers * r;
  const auto add_up = [&](double* sums) {
    const Offset count = (unit.end - unit.begin) * numbers;
    team.each([&](int lane) {
      for (Offset t = lane; t < count * r; t += team.lanes) sums[t] = 0;
    });
    add_terms<R, H, M, W>(team, p, unit, terms, sums - unit.begin * numbers * r);
    team.each([&](int lane) {
      for (Offset t = lane; t < count; t += team.lanes) {
        const Offset k = t / numbers;
        const auto sum = loaded<R>(sums + t * r);
        is_piece ? stored(sum, target + t * r)
                 : put_sum<R>(p, unit.row, unit.begin + k, static_cast<int>(t - k * numbers), sum);
      }
    });
  };
  // Two calls, so that a GPU knows in which memory the sums are.
  unit.is_in_place ? add_up(target) : add_up(scratch);
}

/// Puts the places where the terms of a row's pieces begin into `place`, which is for all pieces.
HEDDLE_INLINE void find_places(const TileProduct& p, Index row, Offset* place) {
  Offset term = first_term(p, row);
  for (Index piece = p.pieces.first[row]; piece < p.pieces.first[row + 1]; ++piece) {
    place[piece] = term;
    for (Offset e = p.pieces.entry[piece]; e < p.pieces.entry[piece + 1]; ++e) {
      term += terms_of(p, row, e).count;
    }
  }
}

/// Forms number t of C's row from the sums of its pieces.
template <Ring R>
HEDDLE_INLINE void join_pieces(const TileProduct& p, Index row, Offset t) {
  constexpr int r = ring_size(R);
  const Offset first = p.c.offsets[row], numbers = Offset(p.height) * p.width, k = t / numbers;
  const Offset begin = p.places.mirror != nullptr ? p.diagonal[row] - first : 0;
  if (k < begin || k >= p.c.offsets[row + 1] - first) return;
  Coefficient<R, double> sum{};
  const double* from = p.pieces.sums + p.pieces.first[row] * p.pieces.sums_size + t * r;
  for (Index left = p.pieces.first[row + 1] - p.pieces.first[row]; left > 0; --left) {
    HEDDLE_UNROLL for (int c = 0; c < r; ++c) sum.component[c] += from[c];
    from += p.pieces.sums_size;
  }
  put_sum<R>(p, row, k, static_cast<int>(t - k * numbers), sum);
}

}  // namespace heddle::device
