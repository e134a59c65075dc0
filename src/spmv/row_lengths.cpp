#include "row_lengths.hpp"

#include <algorithm>

#include "heddle/detail/reduction.hpp"

namespace heddle {

StoredLengths stored_lengths(const PatternView& pattern, const Plan& plan) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  StoredLengths stored;
  stored.offsets.resize(rows + 1);
  const Index wanted = plan.layout.sort_window;
  const bool all = wanted == Layout::all_rows || wanted > pattern.rows;
  const Index window = std::max<Index>(1, all ? pattern.rows : wanted);
  std::vector<Index> rows_of_length;
  std::size_t at = 0;
  const auto put = [&](Index length) {
    stored.offsets[at + 1] = stored.offsets[at] + length;
    ++at;
  };
  for (Index begin = 0; begin < pattern.rows;) {
    const auto end = static_cast<Index>(std::min<Offset>(pattern.rows, Offset(begin) + window));
    if (window == 1) {
      put(pattern.length(begin));
    } else {
      Index longest = 0;
      for (Index row = begin; row < end; ++row) longest = std::max(longest, pattern.length(row));
      rows_of_length.assign(static_cast<std::size_t>(longest) + 1, 0);
      for (Index row = begin; row < end; ++row) {
        ++rows_of_length[static_cast<std::size_t>(pattern.length(row))];
      }
      for (Index length = longest; length >= 0; --length) {
        for (Index i = rows_of_length[static_cast<std::size_t>(length)]; i > 0; --i) put(length);
      }
    }
    begin = end;
  }
  return stored;
}

double imbalance_of_shares(const PatternView& rows, int shares) {
  const Index groups = groups_of(rows.rows);
  const auto used = std::min<Index>(shares, groups);
  if (used <= 1 || rows.entries() == 0) return 1;
  Offset largest = 0;
  for (Index share = 0; share < used; ++share) {
    const auto row_of = [&](Index i) {
      const Offset group = Offset(groups) * i / used;
      return static_cast<Index>(std::min<Offset>(rows.rows, group * rows_of_group));
    };
    largest = std::max(largest, rows.offsets[row_of(share + 1)] - rows.offsets[row_of(share)]);
  }
  return static_cast<double>(largest) * used / static_cast<double>(rows.entries());
}

}  // namespace heddle
