// Rows on their way between a hierarchy on rank 0 and the ranks that have them.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "heddle/detail/index.hpp"
#include "rank_hierarchy.hpp"
#include "root_exchange.hpp"
#include "rows_in_order.hpp"

namespace heddle::detail {

/// The values of all ranks in the order of all rows, on rank 0.
template <class S>
std::vector<std::byte> RankHierarchy<S>::values_of_all(std::span<const std::byte> own) {
  const auto of_ranks = bytes_to_root(ranks_, own);
  std::vector<std::byte> values;
  together(ranks_, [&] {
    if (!is_root()) return;
    const auto bytes = static_cast<std::size_t>(matrix_.diagonal().entry().bytes());
    values.resize(static_cast<std::size_t>(offsets_.back()) * bytes);
    std::vector<std::size_t> at(of_ranks.size());
    for_each_row(matrix_.partition(), [&](std::size_t r, long long row) {
      const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row)]) * bytes;
      const auto end =
          static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row) + 1]) * bytes;
      if (begin < end) std::memcpy(values.data() + begin, of_ranks[r].data() + at[r], end - begin);
      at[r] += end - begin;
    });
  });
  return values;
}

/// The matrix of all rows, on rank 0.
template <class S>
void RankHierarchy<S>::gather_whole() {
  checked_index(matrix_.partition().rows());
  RankEntries own;
  std::vector<Index> lengths, columns;
  together(ranks_, [&] {
    own = matrix_.entries();
    const RankRows& rows = own.rows;
    lengths.resize(rows.offsets.size() - 1);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      lengths[i] = static_cast<Index>(rows.offsets[i + 1] - rows.offsets[i]);
    }
    columns.assign(rows.columns.begin(), rows.columns.end());
  });
  const auto all_lengths = bytes_to_root(ranks_, std::as_bytes(std::span(lengths)));
  const auto all_columns = bytes_to_root(ranks_, std::as_bytes(std::span(columns)));
  std::vector<Index> column;
  together(ranks_, [&] {
    if (!is_root()) return;
    const Partition& partition = matrix_.partition();
    offsets_.assign(static_cast<std::size_t>(partition.rows()) + 1, 0);
    std::vector<std::size_t> at(all_lengths.size());
    const auto next = [&](const auto& all, std::size_t r) {
      Index number = 0;
      std::memcpy(&number, all[r].data() + at[r]++ * sizeof(Index), sizeof(Index));
      return number;
    };
    for_each_row(partition, [&](std::size_t r, long long row) {
      offsets_[static_cast<std::size_t>(row) + 1] = next(all_lengths, r);
    });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    column.resize(static_cast<std::size_t>(offsets_.back()));
    std::fill(at.begin(), at.end(), 0);
    for_each_row(partition, [&](std::size_t r, long long row) {
      const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row)]);
      const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row) + 1]);
      for (std::size_t e = begin; e < end; ++e) column[e] = next(all_columns, r);
    });
  });
  const std::vector<std::byte> values = values_of_all(own.values);
  together(ranks_, [&] {
    if (!is_root()) return;
    const auto rows = static_cast<Index>(matrix_.partition().rows());
    const PatternView pattern{rows, rows, OffsetsView(offsets_.data()), column.data()};
    whole_.emplace(std::make_shared<const EntryTable<S>>(matrix_.diagonal().entry()), pattern,
                   ComponentOrder::row_major, plan_, host_);
    whole_->update_values(values);
  });
}

template <class S>
RankRows RankHierarchy<S>::rows_of(const TileMatrix* whole, const Partition& partition) const {
  std::vector<std::vector<std::byte>> lengths, columns;
  together(ranks_, [&] {
    if (whole == nullptr) return;
    lengths.resize(static_cast<std::size_t>(ranks_.size()));
    columns.resize(lengths.size());
    for_each_row(partition, [&](std::size_t r, long long row) {
      const std::span<const Index> of_row = whole->pattern.row(static_cast<Index>(row));
      const auto length = static_cast<Index>(of_row.size());
      append<Index>(lengths[r], {&length, 1});
      append<Index>(columns[r], of_row);
    });
  });
  const auto own_lengths = array_of<Index>(bytes_from_root(ranks_, lengths));
  const auto own_columns = array_of<Index>(bytes_from_root(ranks_, columns));
  RankRows rows;
  for (const Index length : own_lengths) rows.offsets.push_back(rows.offsets.back() + length);
  rows.columns.assign(own_columns.begin(), own_columns.end());
  return rows;
}

template <class S>
std::vector<std::byte> RankHierarchy<S>::values_of(const TileMatrix* whole,
                                                   const LevelEntry<S>& entry,
                                                   const Partition& partition) const {
  std::vector<std::vector<std::byte>> of_ranks;
  together(ranks_, [&] {
    if (whole == nullptr) return;
    const auto bytes = static_cast<std::size_t>(entry.table->bytes());
    std::vector<std::byte> stored(static_cast<std::size_t>(whole->pattern.entries()) * bytes);
    components_from_tiles(entry.tiles, whole->values.span(), stored,
                          entry.table->sizes.stored_bytes, host_.stream());
    of_ranks.resize(static_cast<std::size_t>(ranks_.size()));
    for_each_row(partition, [&](std::size_t r, long long row) {
      const auto begin = whole->pattern.begin(static_cast<Index>(row));
      const auto end = whole->pattern.begin(static_cast<Index>(row) + 1);
      append<std::byte>(of_ranks[r],
                        std::span(stored).subspan(static_cast<std::size_t>(begin) * bytes,
                                                  static_cast<std::size_t>(end - begin) * bytes));
    });
  });
  return bytes_from_root(ranks_, of_ranks);
}

#define HEDDLE_RANK_HIERARCHY_ROWS(S)                                                          \
  template std::vector<std::byte> RankHierarchy<S>::values_of_all(std::span<const std::byte>); \
  template void RankHierarchy<S>::gather_whole();                                              \
  template RankRows RankHierarchy<S>::rows_of(const TileMatrix*, const Partition&) const;      \
  template std::vector<std::byte> RankHierarchy<S>::values_of(                                 \
      const TileMatrix*, const LevelEntry<S>&, const Partition&) const;
HEDDLE_RANK_HIERARCHY_ROWS(float)
HEDDLE_RANK_HIERARCHY_ROWS(double)
#undef HEDDLE_RANK_HIERARCHY_ROWS

}  // namespace heddle::detail
