// Optimised in full.
#include "heddle/tuning/pattern_features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/text/hash.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

namespace {

/// Number of rows, or columns of entries, that are summed or hashed together by whichever thread,
/// so that the number of threads changes no bit.
constexpr Index rows_of_piece = 1 << 11;
constexpr Offset entries_of_piece = 1 << 16;

Offset pieces(Offset all, Offset of_piece) { return (all + of_piece - 1) / of_piece; }

struct RowSums {
  Index longest = 0;
  double squares = 0;  // sum of squares of length - mean
  double distance = 0;
};

RowSums sums_of(const PatternView& pattern, double mean, Index begin, Index end) {
  RowSums sums;
  for (Index row = begin; row < end; ++row) {
    const Index length = pattern.length(row);
    sums.longest = std::max(sums.longest, length);
    sums.squares += (length - mean) * (length - mean);
    Offset away = 0;
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      away += std::abs(row - pattern.column[i]);
    }
    sums.distance += static_cast<double>(away);
  }
  return sums;
}

double log2_of(double value) {
  constexpr double least = 1e-6;  // a row of a millionth of an entry on average counts as empty
  return std::log2(std::max(value, least));
}

template <class T>
std::string_view bytes_of(const T* data, std::size_t count) {
  return {reinterpret_cast<const char*>(data), count * sizeof(T)};
}

Hash hash_of_lengths(const PatternView& pattern, Index begin, Index end) {
  std::array<std::int32_t, rows_of_piece> lengths;
  for (Index row = begin; row < end; ++row) {
    lengths[static_cast<std::size_t>(row - begin)] = pattern.length(row);
  }
  return hash(bytes_of(lengths.data(), static_cast<std::size_t>(end - begin)));
}

}  // namespace

PatternFeatures pattern_features(const PatternView& pattern, const Device& device) {
  PatternFeatures f;
  f.rows = pattern.rows;
  f.columns = pattern.columns;
  f.entries = pattern.entries();
  if (f.rows == 0) return f;
  f.mean_row = static_cast<double>(f.entries) / f.rows;
  std::vector<RowSums> sums(static_cast<std::size_t>(pieces(f.rows, rows_of_piece)));
  const auto all = static_cast<Offset>(sums.size());
  parallel_for(team_size(device.stream(), f.entries), all, 4, [&](Offset piece) {
    const auto begin = static_cast<Index>(piece * rows_of_piece);
    sums[static_cast<std::size_t>(piece)] =
        sums_of(pattern, f.mean_row, begin, begin + std::min(rows_of_piece, f.rows - begin));
  });
  double squares = 0, distance = 0;
  for (const RowSums& s : sums) {
    f.longest_row = std::max(f.longest_row, s.longest);
    squares += s.squares;
    distance += s.distance;
  }
  f.deviation_of_rows = std::sqrt(squares / f.rows);
  if (f.entries > 0) {
    f.mean_distance = distance / static_cast<double>(f.entries) / static_cast<double>(f.columns);
  }
  return f;
}

double distance(const PatternFeatures& a, const PatternFeatures& b) {
  constexpr double of_locality = 0.25;
  const auto place = [&](const PatternFeatures& f) {
    const double rows = f.rows;
    return std::array<double, 6>{log2_of(rows),
                                 log2_of(f.columns) - log2_of(rows),
                                 log2_of(f.mean_row),
                                 log2_of(1 + f.deviation_of_rows),
                                 f.entries > 0 ? log2_of(f.longest_row / f.mean_row) : 0,
                                 of_locality * log2_of(1 + rows * f.mean_distance)};
  };
  const auto here = place(a), there = place(b);
  double squares = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    squares += (here[i] - there[i]) * (here[i] - there[i]);
  }
  return std::sqrt(squares);
}

std::string fingerprint(const PatternView& pattern, const Device& device) {
  const Offset entries = pattern.entries();
  const Offset of_rows = pieces(pattern.rows, rows_of_piece);
  const Offset of_columns = pieces(entries, entries_of_piece);
  // The shape first, then the hashes of the pieces.
  std::vector<Hash> hashes(static_cast<std::size_t>(2 + of_rows + of_columns));
  hashes[0] = {static_cast<std::uint64_t>(pattern.rows),
               static_cast<std::uint64_t>(pattern.columns)};
  hashes[1] = {static_cast<std::uint64_t>(entries), 0};
  Hash* const of_pieces = hashes.data() + 2;
  parallel_for(team_size(device.stream(), entries), of_rows + of_columns, 4, [&](Offset piece) {
    if (piece < of_rows) {
      const auto begin = static_cast<Index>(piece * rows_of_piece);
      of_pieces[piece] =
          hash_of_lengths(pattern, begin, begin + std::min(rows_of_piece, pattern.rows - begin));
    } else {
      const Offset begin = (piece - of_rows) * entries_of_piece;
      const auto count = static_cast<std::size_t>(std::min(entries_of_piece, entries - begin));
      of_pieces[piece] = hash(bytes_of(pattern.column + begin, count));
    }
  });
  return to_string(hash(bytes_of(hashes.data(), hashes.size())));
}

}  // namespace heddle
