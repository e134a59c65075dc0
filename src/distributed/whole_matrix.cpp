#include "whole_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "distributed/exchange/root_exchange.hpp"
#include "distributed/exchange/rows_in_order.hpp"
#include "heddle/detail/index.hpp"

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

namespace {

/// The rows of each rank, one after another; `bytes_of(row)` are those of a row.
template <class BytesOfRow>
std::vector<std::vector<std::byte>> packed(const Partition& partition, const BytesOfRow& bytes_of) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(partition.ranks()));
  for_each_row(partition,
               [&](std::size_t r, long long row) { sizes[r] += bytes_of(row).size_bytes(); });
  std::vector<std::vector<std::byte>> of_ranks(sizes.size());
  for (std::size_t r = 0; r < sizes.size(); ++r) of_ranks[r].reserve(sizes[r]);
  for_each_row(partition,
               [&](std::size_t r, long long row) { append(of_ranks[r], bytes_of(row)); });
  return of_ranks;
}

}  // namespace

RankRows rows_from_root(Communicator& ranks, const Partition& partition, const PatternView* whole) {
  std::vector<std::vector<std::byte>> of_ranks;
  together(ranks, [&] {
    if (whole == nullptr) return;
    std::vector<Index> lengths(static_cast<std::size_t>(whole->rows));
    for (Index row = 0; row < whole->rows; ++row) {
      lengths[static_cast<std::size_t>(row)] =
          static_cast<Index>(whole->offsets[row + 1] - whole->offsets[row]);
    }
    of_ranks = packed(partition, [&](long long row) {
      return std::span<const Index>(lengths).subspan(static_cast<std::size_t>(row), 1);
    });
  });
  const auto lengths = bytes_from_root(ranks, std::move(of_ranks));
  of_ranks = {};
  together(ranks, [&] {
    if (whole == nullptr) return;
    of_ranks = packed(partition, [&](long long row) {
      const Offset begin = whole->offsets[row];
      return std::span<const Index>(whole->column + begin,
                                    static_cast<std::size_t>(whole->offsets[row + 1] - begin));
    });
  });
  const auto columns = bytes_from_root(ranks, std::move(of_ranks));
  RankRows rows;
  together(ranks, [&] {
    for (const Index length : array_of<Index>(lengths)) {
      rows.offsets.push_back(rows.offsets.back() + length);
    }
    const auto own = array_of<Index>(columns);
    rows.columns.assign(own.begin(), own.end());
  });
  return rows;
}

std::vector<std::byte> values_from_root(Communicator& ranks, const Partition& partition,
                                        const PatternView* whole, std::span<const std::byte> values,
                                        std::size_t bytes) {
  std::vector<std::vector<std::byte>> of_ranks;
  together(ranks, [&] {
    if (whole == nullptr) return;
    of_ranks = packed(partition, [&](long long row) {
      const auto begin = static_cast<std::size_t>(whole->offsets[row]) * bytes;
      const auto end = static_cast<std::size_t>(whole->offsets[row + 1]) * bytes;
      return values.subspan(begin, end - begin);
    });
  });
  return bytes_from_root(ranks, std::move(of_ranks));
}

template class WholeMatrix<float>;
template class WholeMatrix<double>;

}  // namespace heddle::detail
