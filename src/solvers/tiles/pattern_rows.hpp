// Rows of the pattern of C = A B, by the lanes of a team as in tile_rows.hpp. A row's columns meet
// in a hash table, or in a bit for each column; both yield them in increasing order, so that the
// order in which lanes arrive leaves no trace.
#pragma once

#include <limits>

#include "base/bit_count.hpp"
#include "tile_rows.hpp"

namespace heddle::device {

struct PatternRows {
  TilePattern a, b;
  int lanes_of_b = 1;         // lanes that share a row of B, a power of two
  Offset* offsets = nullptr;  // C's; lengths of rows while these are counted
  Index* column = nullptr;    // C's; null while its rows are counted
  Index* kept = nullptr;      // room for `max_kept` columns of each row, if any
  int max_kept = 0;

  HEDDLE_INLINE Offset length_of_b(Index row) const { return b.offsets[row + 1] - b.offsets[row]; }
};

/// The room where a team meets columns: a table of 2 `columns` numbers, and a list of `columns`
/// numbers, a power of two and more than twice the lanes. Rows of more terms are left to other
/// teams.
struct MeetingWorkspace {
  Index* table;
  Index* list;
  int* terms;  // one number each
  int* met;
  int* has_long;  // 1 if a row of B is long
  int columns;
  int max_terms;
  bool keeps = false;  // puts columns that it kept while it counted
};

/// Calls `body(entry of A, first of its entries of B, entry of B)` for the terms of a row from
/// `begin_of(entry, row of B)` on. A lane stops when `body` returns false. A few lanes share a row
/// of B; all of them share a long one.
template <class Team, class Begin, class Body>
HEDDLE_INLINE void for_each_term(const Team& team, const PatternRows& p, Index row, int* has_long,
                                 const Begin& begin_of, const Body& body) {
  constexpr Offset turns_of_long = 32;
  const int together = p.lanes_of_b < team.lanes ? p.lanes_of_b : team.lanes;
  const Offset most = turns_of_long * together;
  const auto walk = [&](Offset e, int at, int step, bool long_ones) {
    const Index middle = p.a.column[e];
    const Offset begin = begin_of(e, middle), end = p.b.offsets[middle + 1];
    if ((end - begin > most) != long_ones) {
      if (!long_ones) *has_long = 1;
      return true;
    }
    for (Offset j = begin + at; j < end; j += step) {
      if (!body(e, begin, j)) return false;
    }
    return true;
  };
  team.each([&](int lane) {
    const int shares = team.lanes / together, share = lane / together, at = lane % together;
    for (Offset e = p.a.offsets[row] + share; e < p.a.offsets[row + 1]; e += shares) {
      if (!walk(e, at, together, false)) return;
    }
  });
  if (*has_long == 0) return;
  team.each([&](int lane) {
    for (Offset e = p.a.offsets[row]; e < p.a.offsets[row + 1]; ++e) {
      if (!walk(e, lane, team.lanes, true)) return;
    }
  });
  team.each([&](int lane) {
    if (lane == 0) *has_long = 0;
  });
}
template <class Team, class Body>
HEDDLE_INLINE void for_each_column(const Team& team, const PatternRows& p, Index row, int* has_long,
                                   const Body& body) {
  for_each_term(
      team, p, row, has_long, [&](Offset, Index middle) { return p.b.offsets[middle]; },
      [&](Offset, Offset, Offset j) { return body(p.b.column[j]); });
}

inline constexpr Index no_column = -1, last_column = std::numeric_limits<Index>::max();

/// The number of terms of a row, or a number above `max_terms`.
template <class Team>
HEDDLE_INLINE int count_terms(const Team& team, const PatternRows& p, Index row,
                              const MeetingWorkspace& workspace) {
  constexpr Offset max_of_lane = 1 << 20;
  team.each([&](int lane) {
    if (lane == 0) *workspace.terms = *workspace.met = *workspace.has_long = 0;
  });
  team.each([&](int lane) {
    Offset own = 0;
    for (Offset e = p.a.offsets[row] + lane; e < p.a.offsets[row + 1]; e += team.lanes) {
      own += p.length_of_b(p.a.column[e]);
    }
    team.add(workspace.terms, static_cast<int>(own < max_of_lane ? own : max_of_lane));
  });
  return *workspace.terms;
}

/// True if no lane met the column before.
template <class Team>
HEDDLE_INLINE bool is_first_meeting(const Team& team, Index* table, unsigned size, Index column) {
  constexpr unsigned golden = 0x9e3779b1u, high = 16;  // Knuth's multiplicative hashing
  unsigned at = static_cast<unsigned>(column) * golden;
  at ^= at >> high;
  while (true) {
    at &= size - 1;
    const Index before = team.take(table + at, no_column, column);
    if (before == no_column) return true;
    if (before == column) return false;
    ++at;
  }
}

/// Lists the columns of a row, at most `most`. Returns their number, or more than there is room
/// for: each lane stops at its first column without room, so that the table never gets full.
template <class Team>
HEDDLE_INLINE int list_columns(const Team& team, const PatternRows& p, Index row, int most,
                               const MeetingWorkspace& workspace) {
  if (most > workspace.columns) most = workspace.columns;
  int size = 2;
  while (size < 2 * most) size *= 2;
  team.each([&](int lane) {
    for (int k = lane; k < size; k += team.lanes) workspace.table[k] = no_column;
  });
  for_each_column(team, p, row, workspace.has_long, [&](Index column) {
    if (!is_first_meeting(team, workspace.table, static_cast<unsigned>(size), column)) return true;
    const int place = team.add(workspace.met, 1);
    if (place >= workspace.columns) return false;
    workspace.list[place] = column;
    return true;
  });
  return *workspace.met;
}

/// Batcher's bitonic sort (1968, Proc. AFIPS 32) of `count` columns in a list with room for the
/// next power of two.
template <class Team>
HEDDLE_INLINE void sort_columns(const Team& team, Index* list, int count) {
  int size = 1;
  while (size < count) size *= 2;
  team.each([&](int lane) {
    for (int k = count + lane; k < size; k += team.lanes) {
      list[k] = last_column;
    }
  });
  for (int run = 2; run <= size; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      team.each([&](int lane) {
        for (int t = lane; t < size / 2; t += team.lanes) {
          const int i = 2 * t - (t & (distance - 1)), j = i + distance;
          const Index first = list[i], second = list[j];
          if ((first > second) != ((i & run) == 0)) continue;
          list[i] = second;
          list[j] = first;
        }
      });
    }
  }
}

/// Counts the columns of a row, or puts them. False if there is no room for that. The team has to
/// meet before it takes another row. A team that keeps columns also puts those of rows that it left
/// to others, which correct them afterwards.
template <class Team>
HEDDLE_INLINE bool find_row(const Team& team, const PatternRows& p, Index row,
                            const MeetingWorkspace& workspace) {
  const bool puts = p.column != nullptr;
  const Offset first = puts ? p.offsets[row] : 0, known = puts ? p.offsets[row + 1] - first : 0;
  if (known > workspace.columns) return false;
  const int max_kept = workspace.keeps ? p.max_kept : -1;
  Index* const kept = p.kept + Offset(row) * p.max_kept;
  const auto copy = [&](const Index* from, Index* to, Offset count) {
    team.each([&](int lane) {
      for (Offset k = lane; k < count; k += team.lanes) to[k] = from[k];
    });
  };
  if (puts && known <= max_kept) {
    copy(kept, p.column + first, known);
    return true;
  }
  const int terms = count_terms(team, p, row, workspace);
  if (terms > workspace.max_terms) return false;
  const int count = list_columns(team, p, row, puts ? static_cast<int>(known) : terms, workspace);
  if (count > workspace.columns) return false;
  if (puts || count <= max_kept) {
    sort_columns(team, workspace.list, count);
    copy(workspace.list, puts ? p.column + first : kept, count);
  }
  team.each([&](int lane) {
    if (lane == 0 && !puts) p.offsets[row] = count;
  });
  return true;
}

/// A bit for each column, all of them 0 before and after a row, and numbers that a team shares.
struct MarkedColumns {
  unsigned* bits;
  int* least;     // first word that is not 0
  int* greatest;  // last word that is not 0
  int* has_long;
  int* counts;  // one per lane
};

/// Like `find_row`, but for rows of any length.
template <class Team>
HEDDLE_INLINE void find_long_row(const Team& team, const PatternRows& p, Index row,
                                 const MarkedColumns& marked) {
  constexpr int word_bits = 32;
  team.each([&](int lane) {
    if (lane != 0) return;
    *marked.least = last_column;
    *marked.greatest = -1;
    *marked.has_long = 0;
  });
  for_each_column(team, p, row, marked.has_long, [&](Index column) {
    const int word = column / word_bits;
    team.mark(marked.bits + word, 1u << (column % word_bits));
    team.lower(marked.least, word);
    team.raise(marked.greatest, word);
    return true;
  });
  // Each lane has the same number of words, one after another.
  const int begin = *marked.least, end = *marked.greatest + 1;
  const int share = end > begin ? (end - begin - 1) / team.lanes + 1 : 0;
  const auto for_each_word = [&](int lane, const auto& body) {
    for (int k = 0; k < share; ++k) {
      const int word = begin + lane * share + k;
      if (word < end) body(word);
    }
  };
  team.each([&](int lane) {
    int count = 0;
    for_each_word(lane, [&](int word) { count += cuda::bit_count(marked.bits[word]); });
    marked.counts[lane] = count;
  });
  team.each([&](int lane) {
    Offset before = 0;
    for (int other = 0; other < lane; ++other) before += marked.counts[other];
    if (p.column == nullptr && lane == team.lanes - 1)
      p.offsets[row] = before + marked.counts[lane];
    Index* to = p.column != nullptr ? p.column + p.offsets[row] + before : nullptr;
    for_each_word(lane, [&](int word) {
      unsigned left = marked.bits[word];
      marked.bits[word] = 0;
      for (; to != nullptr && left != 0; left &= left - 1) {
        *to++ = word * word_bits + cuda::bit_count((left & (0u - left)) - 1);
      }
    });
  });
}

/// The first of sorted values that is not less than `value`.
template <class T>
HEDDLE_INLINE Offset first_at_least(const T* values, Offset begin, Offset end, T value) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (values[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}
/// Same, for a row's columns.
HEDDLE_INLINE Offset first_from(const TilePattern& rows, Index row, Index column) {
  return first_at_least(rows.column, rows.offsets[row], rows.offsets[row + 1], column);
}

/// The places where the terms of C = A B are added (`detail::ProductPlaces`).
struct PlaceRows {
  PatternRows of;
  TilePattern c;
  const Index* row = nullptr;  // row of each entry of A; only where tiles below C's diagonal have
                               // no terms: a row's terms then follow the numbers that its entries
                               // leave out
  const Offset* first = nullptr;  // first of the terms of each entry of A, with those numbers

  HEDDLE_INLINE bool is_upper() const { return row != nullptr; }
  HEDDLE_INLINE Offset begin(Offset entry, Index middle) const {
    return is_upper() ? first_from(of.b, middle, row[entry]) : of.b.offsets[middle];
  }
  HEDDLE_INLINE Offset terms_of(Offset entry) const {
    const Index middle = of.a.column[entry];
    return of.b.offsets[middle + 1] - begin(entry, middle) + (is_upper() ? 1 : 0);
  }
};

/// Lists the places of a row's terms. False if the row is too long, as for `find_row`.
template <class Place, class Team>
HEDDLE_INLINE bool place_row(const Team& team, const PlaceRows& p, Index row,
                             const MeetingWorkspace& workspace, Place* places) {
  const Offset entry = p.of.a.offsets[row], end = p.of.a.offsets[row + 1];
  // The last team takes rows of any number of terms.
  if (workspace.max_terms < last_column && p.first[end] - p.first[entry] > workspace.max_terms) {
    return false;
  }
  const Index* columns = p.c.column + p.c.offsets[row];
  const Offset count = p.c.offsets[row + 1] - p.c.offsets[row];
  team.each([&](int lane) {
    if (lane == 0) *workspace.has_long = 0;
    for (Offset k = lane; k < count && count <= workspace.columns; k += team.lanes) {
      workspace.list[k] = columns[k];
    }
    for (Offset e = entry + lane; e < end && p.is_upper(); e += team.lanes) {
      const Index middle = p.of.a.column[e];
      places[p.first[entry] + (e - entry)] =
          static_cast<Place>(p.begin(e, middle) - p.of.b.offsets[middle]);
    }
  });
  if (count <= workspace.columns) columns = workspace.list;
  for_each_term(
      team, p.of, row, workspace.has_long,
      [&](Offset e, Index middle) { return p.begin(e, middle); },
      [&](Offset e, Offset begin, Offset j) {
        const Offset before = p.is_upper() ? end - e : 0;  // numbers of this entry and later ones
        places[p.first[e] + before + (j - begin)] =
            static_cast<Place>(first_at_least(columns, 0, count, p.of.b.column[j]));
        return true;
      });
  return true;
}

}  // namespace heddle::device
