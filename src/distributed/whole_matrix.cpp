#include "whole_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "heddle/detail/index.hpp"
#include "root_exchange.hpp"
#include "rows_in_order.hpp"

namespace heddle::detail {

template <class S>
WholeMatrix<S>::WholeMatrix(const DistributedOperator<S>& matrix, const Plan& plan)
    : matrix_(matrix),
      ranks_(matrix.ranks()),
      plan_(plan),
      host_(
          Device::cpu(matrix.device().threads() * (ranks_.is_one_process() ? ranks_.size() : 1))) {
  gather_rows();
  generation_ = matrix_.diagonal().generation();
}

/// The values of all ranks in the order of all rows, on rank 0.
template <class S>
std::vector<std::byte> WholeMatrix<S>::values_of_all(std::span<const std::byte> own) {
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

template <class S>
void WholeMatrix<S>::gather_rows() {
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
    stored_.emplace(std::make_shared<const EntryTable<S>>(matrix_.diagonal().entry()), pattern,
                    ComponentOrder::row_major, plan_, host_);
    stored_->update_values(values);
  });
}

template <class S>
void WholeMatrix<S>::refresh(const std::function<void()>& follow) {
  const long long now = matrix_.diagonal().generation();
  const std::vector<long long> changed = gather(ranks_, now != generation_ ? 1 : 0);
  if (std::none_of(changed.begin(), changed.end(), [](long long c) { return c != 0; })) return;
  RankEntries own;
  together(ranks_, [&] { own = matrix_.entries(); });
  const std::vector<std::byte> values = values_of_all(own.values);
  together(ranks_, [&] {
    if (is_root()) stored_->update_values(values);
  });
  follow();
  generation_ = now;
}

RankRows rows_from_root(Communicator& ranks, const Partition& partition, const PatternView* whole) {
  std::vector<std::vector<std::byte>> lengths, columns;
  together(ranks, [&] {
    if (whole == nullptr) return;
    lengths.resize(static_cast<std::size_t>(ranks.size()));
    columns.resize(lengths.size());
    for_each_row(partition, [&](std::size_t r, long long row) {
      const Offset begin = whole->offsets[row], end = whole->offsets[row + 1];
      const auto length = static_cast<Index>(end - begin);
      append<Index>(lengths[r], {&length, 1});
      append<Index>(columns[r], {whole->column + begin, static_cast<std::size_t>(length)});
    });
  });
  const auto own_lengths = array_of<Index>(bytes_from_root(ranks, lengths));
  const auto own_columns = array_of<Index>(bytes_from_root(ranks, columns));
  RankRows rows;
  for (const Index length : own_lengths) rows.offsets.push_back(rows.offsets.back() + length);
  rows.columns.assign(own_columns.begin(), own_columns.end());
  return rows;
}

std::vector<std::byte> values_from_root(Communicator& ranks, const Partition& partition,
                                        const PatternView* whole, std::span<const std::byte> values,
                                        std::size_t bytes) {
  std::vector<std::vector<std::byte>> of_ranks;
  together(ranks, [&] {
    if (whole == nullptr) return;
    of_ranks.resize(static_cast<std::size_t>(ranks.size()));
    for_each_row(partition, [&](std::size_t r, long long row) {
      const auto begin = static_cast<std::size_t>(whole->offsets[row]) * bytes;
      const auto end = static_cast<std::size_t>(whole->offsets[row + 1]) * bytes;
      append<std::byte>(of_ranks[r], values.subspan(begin, end - begin));
    });
  });
  return bytes_from_root(ranks, of_ranks);
}

template class WholeMatrix<float>;
template class WholeMatrix<double>;

}  // namespace heddle::detail
