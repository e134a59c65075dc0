// Products of sparse matrices of tiles on kept patterns by the lanes of a team (tile_rows.hpp). A
// row of C is added up by one team in the order of the CPU's sums (tile_products.cpp), or in pieces
// by several teams, whose sums are then added in their order.
#pragma once

#include <cstdint>

#include "heddle/kernels/local_systems.hpp"

namespace heddle::device {

/// Compressed rows in the user's order; `column` is null where nobody walks them.
struct TilePattern {
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Index* column = nullptr;
};

/// `detail::ProductPlaces`.
struct TermPlaces {
  const void* of_terms = nullptr;
  int bytes = 1;                   // of a place
  const Offset* first = nullptr;   // of each row of C
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

/// `detail::ProductPieces`, and what their sums are kept in.
struct RowPieces {
  Index count = 0;                // 0: rows are added up whole
  const Index* row = nullptr;     // of each piece
  const Offset* entry = nullptr;  // its first one in A, and the end of the last piece
  const Offset* place = nullptr;  // of its first term
  const Index* first = nullptr;   // piece of each row of C, and their end
  double* sums = nullptr;         // `room` scalars for each piece
  Offset room = 0;
};

/// C = A B, of tiles of height x middle and middle x width numbers.
struct TileProduct {
  TilePattern a, b, c;
  const double* left = nullptr;
  const double* right = nullptr;
  double* result = nullptr;
  TermPlaces places;
  const Offset* diagonal = nullptr;  // C's entries on it, where there is a mirror
  int height = 1, middle = 1, width = 1;
  RowPieces pieces{};
};

/// Numbers of a tile of C, one under and beside another, that a lane adds up together: it then
/// reads fewer numbers for each product. 1 where sizes are 0.
HEDDLE_HD constexpr int numbers_down(int height) { return height > 0 && height % 3 == 0 ? 3 : 1; }
HEDDLE_HD constexpr int numbers_across(int width) { return width > 0 && width % 2 == 0 ? 2 : 1; }

/// Numbers of C's row in front of those that are summed, and all of them.
struct RowSums {
  Offset begin, end;

  HEDDLE_INLINE RowSums(const TileProduct& p, Index row) {
    const Offset first = p.c.offsets[row], numbers = Offset(p.height) * p.width;
    begin = p.places.mirror != nullptr ? (p.diagonal[row] - first) * numbers : 0;
    end = (p.c.offsets[row + 1] - first) * numbers;
  }
};

/// A sum of C's row, and its conjugate in the mirror.
template <Ring R>
HEDDLE_INLINE void put_sum(const TileProduct& p, Index row, Offset t,
                           const Coefficient<R, double>& sum) {
  constexpr int r = ring_size(R);
  const Offset first = p.c.offsets[row], numbers = Offset(p.height) * p.width;
  stored(sum, p.result + (first * numbers + t) * r);
  if (p.places.mirror == nullptr) return;
  const Offset k = t / numbers, other = p.places.mirror[first + k];
  if (other == first + k) return;
  const Offset at = t - k * numbers, i = at / p.width, w = at - i * p.width;
  stored(conj(sum), p.result + (other * numbers + w * p.height + i) * r);
}

/// Adds the terms of entries [entry, stop) of A, whose places begin at `place`, to a row of C at
/// `sums`. H, M and W are the tiles' sizes, or 0.
template <Ring R, int H, int M, int W, class Team>
HEDDLE_INLINE void add_terms(const Team& team, const TileProduct& p, Offset entry, Offset stop,
                             Offset place, double* sums) {
  constexpr int r = ring_size(R), I = numbers_down(H), J = numbers_across(W);
  const int height = H > 0 ? H : p.height, middle = M > 0 ? M : p.middle,
            width = W > 0 ? W : p.width;
  const int numbers = height * width, across = width / J, shares = numbers / (I * J);
  // Where the next row of B lies is read while the last one is added.
  Offset next_begin = 0, next_end = 0;
  const auto look = [&](Offset e) {
    if (e >= stop) return;
    const Index other = p.a.column[e];
    next_begin = p.b.offsets[other];
    next_end = p.b.offsets[other + 1];
  };
  look(entry);
  for (Offset e = entry; e < stop; ++e) {
    Offset begin = next_begin;
    const Offset last = next_end;
    look(e + 1);
    if (p.places.mirror != nullptr) begin += p.places[place++];
    const int items = static_cast<int>(last - begin) * shares;
    team.each([&](int lane) {
      for (int t = lane; t < items; t += team.lanes) {
        const int j = t / shares, share = t - j * shares, down = share / across;
        const int i = down * I, w = (share - down * across) * J;
        const double* const left = p.left + (e * height + i) * middle * r;
        const double* const right = p.right + ((begin + j) * middle * width + w) * r;
        double* const to = sums + (p.places[place + j] * numbers + i * width + w) * r;
        Coefficient<R, double> sum[I * J];
        HEDDLE_UNROLL for (int k = 0; k < I * J; ++k) {
          sum[k] = loaded<R>(to + (k / J * width + k % J) * r);
        }
        HEDDLE_UNROLL for (int m = 0; m < middle; ++m) {
          HEDDLE_UNROLL for (int k = 0; k < I * J; ++k) {
            multiply_add_at<R>(sum[k].component, left + (k / J * middle + m) * r,
                               right + (m * width + k % J) * r);
          }
        }
        HEDDLE_UNROLL for (int k = 0; k < I * J; ++k) {
          stored(sum[k], to + (k / J * width + k % J) * r);
        }
      }
    });
    place += last - begin;
  }
}

/// Row n of C, or piece n of its rows where these are in pieces, added up at `sums`, which has room
/// for a row; null: where the sums go.
template <Ring R, int H, int M, int W, class Team>
HEDDLE_INLINE void multiply_row(const Team& team, const TileProduct& p, Index n, double* sums) {
  constexpr int r = ring_size(R);
  const RowPieces& pieces = p.pieces;
  const bool is_piece = pieces.count > 0;
  const Index row = is_piece ? pieces.row[n] : n;
  const RowSums of_row(p, row);
  double* const target = is_piece ? pieces.sums + n * pieces.room
                                  : p.result + p.c.offsets[row] * p.height * p.width * r;
  if (sums == nullptr) sums = target;
  team.each([&](int lane) {
    for (Offset t = of_row.begin * r + lane; t < of_row.end * r; t += team.lanes) sums[t] = 0;
  });
  const Offset* const entry = is_piece ? pieces.entry + n : p.a.offsets + row;
  add_terms<R, H, M, W>(team, p, entry[0], entry[1],
                        is_piece ? pieces.place[n] : p.places.first[row], sums);
  team.each([&](int lane) {
    for (Offset t = of_row.begin + lane; t < of_row.end; t += team.lanes) {
      const auto sum = loaded<R>(sums + t * r);
      is_piece ? stored(sum, target + t * r) : put_sum<R>(p, row, t, sum);
    }
  });
}

/// Where the terms of a row's pieces begin, into `place`, of all pieces.
HEDDLE_INLINE void find_places(const TileProduct& p, Index row, Offset* place) {
  const bool is_upper = p.places.mirror != nullptr;
  Offset term = p.places.first[row];
  for (Index piece = p.pieces.first[row]; piece < p.pieces.first[row + 1]; ++piece) {
    place[piece] = term;
    for (Offset e = p.pieces.entry[piece]; e < p.pieces.entry[piece + 1]; ++e) {
      const Index other = p.a.column[e];
      const Offset left_out = is_upper ? p.places[term++] : 0;
      term += p.b.offsets[other + 1] - p.b.offsets[other] - left_out;
    }
  }
}

/// Number t of C's row, of the sums of its pieces.
template <Ring R>
HEDDLE_INLINE void join_pieces(const TileProduct& p, Index row, Offset t) {
  constexpr int r = ring_size(R);
  const RowSums of_row(p, row);
  if (t < of_row.begin || t >= of_row.end) return;
  Coefficient<R, double> sum{};
  const double* from = p.pieces.sums + p.pieces.first[row] * p.pieces.room + t * r;
  for (Index left = p.pieces.first[row + 1] - p.pieces.first[row]; left > 0; --left) {
    HEDDLE_UNROLL for (int k = 0; k < r; ++k) sum.component[k] += from[k];
    from += p.pieces.room;
  }
  put_sum<R>(p, row, t, sum);
}

}  // namespace heddle::device
