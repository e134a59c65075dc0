#include "heddle/triplets.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// Column and position in one number, so that sorting a row is sorting numbers.
using Key = std::uint64_t;

Key key_of(Index column, std::size_t position) {
  return static_cast<Key>(column) << 32 | static_cast<Key>(position);
}
Index column_of(Key key) { return static_cast<Index>(key >> 32); }
std::uint32_t position_of(Key key) { return static_cast<std::uint32_t>(key); }

bool in_range(Index index, Index size) { return index >= 0 && index < size; }

void check_range(Index rows, Index columns, Offset count, const StridedIndices& row,
                 const StridedIndices& column, int team) {
  const auto check = [&](Offset i, Offset& least) {
    if (!in_range(row[i], rows) || !in_range(column[i], columns)) least = std::min(least, i);
  };
  const Offset first_bad = parallel_min(team, count, count, check);
  if (first_bad == count) return;
  const bool row_is_bad = !in_range(row[first_bad], rows);
  const std::string what = row_is_bad ? "row" : "column";
  throw Error(ErrorKind::out_of_range,
              "triplet " + std::to_string(first_bad) + " names " + what + " " +
                  std::to_string(row_is_bad ? row[first_bad] : column[first_bad]) +
                  ", but there are " + std::to_string(row_is_bad ? rows : columns) + " " + what +
                  "s, counted from 0");
}

/// Keys grouped by row: those of row r are keys[begin[r]], ..., keys[begin[r + 1] - 1]. A counting
/// sort; the order within a row is left to the sort that follows.
void group_by_row(Index rows, Offset count, const StridedIndices& row, const StridedIndices& column,
                  Array<std::uint32_t>& begin, Array<Key>& keys, int team) {
  parallel_for(team, count, [&](Offset i) {
    std::atomic_ref(begin[row[i]]).fetch_add(1, std::memory_order_relaxed);
  });
  for (Index r = 0; r < rows; ++r) begin[r + 1] += begin[r];
  // begin[r] is now the end of row r; each key taken moves it towards the beginning.
  parallel_for(team, count, [&](Offset i) {
    const std::uint32_t slot =
        std::atomic_ref(begin[row[i]]).fetch_sub(1, std::memory_order_relaxed) - 1;
    keys[slot] = key_of(column[i], i);
  });
}

}  // namespace

OrderedTriplets order_triplets(Index rows, Index columns, std::size_t count, StridedIndices row,
                               StridedIndices column, const Device& device) {
  if (rows < 0 || columns < 0) throw Error(ErrorKind::size_mismatch, "a matrix of negative size");
  if (count >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::unsupported, "one matrix takes fewer than 4294967295 triplets, not " +
                                            std::to_string(count) +
                                            "; sum duplicates before assembling");
  }
  const auto triplets = static_cast<Offset>(count);
  const int team = team_size(device.stream(), triplets + rows);
  check_range(rows, columns, triplets, row, column, team);

  Array<std::uint32_t> begin(static_cast<std::size_t>(rows) + 1, device);
  Array<Key> keys(count, device);
  group_by_row(rows, triplets, row, column, begin, keys, team);

  OrderedTriplets ordered;
  ordered.offsets = Array<Offset>(static_cast<std::size_t>(rows) + 1, device);
  Array<Offset>& offsets = ordered.offsets;
  parallel_for(team, rows, 256, [&](Index r) {
    Key* const from = keys.data() + begin[r];
    Key* const to = keys.data() + begin[r + 1];
    std::sort(from, to);
    Offset distinct = from != to;
    for (const Key* key = from; key != to && key + 1 != to; ++key)
      distinct += column_of(key[0]) != column_of(key[1]);
    offsets[r + 1] = distinct;
  });
  for (Index r = 0; r < rows; ++r) offsets[r + 1] += offsets[r];

  const auto entries = static_cast<std::size_t>(offsets[rows]);
  ordered.column = Array<Index>(entries, device);
  ordered.first = Array<std::uint32_t>(entries + 1, device);
  ordered.triplet = Array<std::uint32_t>(count, device);
  parallel_for(team, rows, 256, [&](Index r) {
    Offset entry = offsets[r] - 1;
    for (std::uint32_t k = begin[r]; k < begin[r + 1]; ++k) {
      if (k == begin[r] || column_of(keys[k]) != column_of(keys[k - 1])) {
        ++entry;
        ordered.column[entry] = column_of(keys[k]);
        ordered.first[entry] = k;
      }
      ordered.triplet[k] = position_of(keys[k]);
    }
  });
  ordered.first[entries] = static_cast<std::uint32_t>(count);
  return ordered;
}

void refuse_duplicates(const OrderedTriplets& ordered, Index rows) {
  for (std::size_t i = 0; i < ordered.column.size(); ++i) {
    const std::uint32_t first = ordered.first[i];
    if (ordered.first[i + 1] - first < 2) continue;
    const Offset* const begin = ordered.offsets.data();
    const Offset* const after = std::upper_bound(begin, begin + rows + 1, static_cast<Offset>(i));
    throw Error(ErrorKind::unsupported,
                "triplets " + std::to_string(ordered.triplet[first]) + " and " +
                    std::to_string(ordered.triplet[first + 1]) + " both name row " +
                    std::to_string(after - begin - 1) + ", column " +
                    std::to_string(ordered.column[i]) +
                    ", but encoded entries have no sum; add them before encoding");
  }
}

}  // namespace heddle::detail
