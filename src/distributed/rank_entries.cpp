// Reads a rank's entries out of the sliced storage of its parts.
#include <algorithm>
#include <utility>

#include "distributed_state.hpp"
#include "solvers/tiles/stored_scalars.hpp"
#include "solvers/tiles/user_rows.hpp"

namespace heddle {

RankEntries entries_of_rank(const PatternView& pattern, std::span<const std::byte> values,
                            const Partition& partition, int rank) {
  const Offset bytes =
      pattern.entries() == 0 ? 0 : static_cast<Offset>(values.size()) / pattern.entries();
  RankEntries own;
  for (long long number = 0; number < partition.rows_of(rank); ++number) {
    const Offset row = partition.row(partition.first_row(rank) + number);
    const Offset begin = pattern.offsets[row], end = pattern.offsets[row + 1];
    own.rows.columns.insert(own.rows.columns.end(), pattern.column + begin, pattern.column + end);
    own.rows.offsets.push_back(static_cast<Offset>(own.rows.columns.size()));
    const std::byte* const of_row = values.data() + begin * bytes;
    own.values.insert(own.values.end(), of_row, of_row + (end - begin) * bytes);
  }
  return own;
}

namespace rank_entries {
namespace {

/// A part's rows, whose columns are the part's, and the components of their entries.
struct PartRows {
  detail::StoredRows rows;
  Array<double> components;
};

template <class S>
PartRows rows_of(const detail::SlicedOperator<S>& matrix, const Stream& host) {
  PartRows part{detail::stored_rows(matrix.pattern(), host), {}};
  part.components = Array<double>(static_cast<std::size_t>(part.rows.entries()) *
                                  static_cast<std::size_t>(matrix.entry().sizes.components));
  detail::read_values(matrix, part.rows, part.components, host);
  return part;
}

}  // namespace
}  // namespace rank_entries

using rank_entries::PartRows;

template <class S>
RankEntries DistributedOperator<S>::entries() const {
  const State& state = *state_;
  const Device host = Device::cpu(state.device.threads());
  const long long first = state.partition.first_row(state.ranks.rank());
  const auto of_own = [&](Index position) {
    return state.partition.row(first + state.basis->user_row(position));
  };
  const auto copied = static_cast<Index>(state.copied_rows.size());
  const auto of_boundary = [&](Index column) {
    if (column < copied) return of_own(state.copied_rows[static_cast<std::size_t>(column)]);
    return state.partition.row(state.halo.columns[static_cast<std::size_t>(column - copied)]);
  };
  PartRows interior, boundary;
  if (state.interior.matrix)
    interior = rank_entries::rows_of(*state.interior.matrix, host.stream());
  if (state.boundary.matrix)
    boundary = rank_entries::rows_of(*state.boundary.matrix, host.stream());

  const int bytes = state.entry->sizes.stored_bytes;
  const Offset width = state.entry->sizes.components;
  RankEntries entries;
  entries.rows.columns.reserve(state.entries);
  entries.values.resize(state.entries * static_cast<std::size_t>(state.entry->bytes()));
  std::vector<std::pair<long long, const double*>> order;  // columns, and components
  Offset at = 0;
  for (Index row = 0; row < rows(); ++row) {
    const Index position = state.basis->position(row);
    order.clear();
    for (const bool is_interior : {true, false}) {
      const PartRows& part = is_interior ? interior : boundary;
      const detail::RowPart& place = (is_interior ? state.interior : state.boundary).rows;
      const Index of_part = position - place.first_row;
      if (of_part < 0 || of_part >= place.rows) continue;
      for (Offset e = part.rows.begin(of_part); e < part.rows.begin(of_part + 1); ++e) {
        const Index column = part.rows.column[static_cast<std::size_t>(e)];
        const double* const from = part.components.data() + e * width;
        order.emplace_back(is_interior ? of_own(column) : of_boundary(column), from);
      }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [column, from] : order) {
      if (entries.rows.columns.size() == state.entries) break;  // refused below
      entries.rows.columns.push_back(column);
      for (Offset k = 0; k < width; ++k) {
        detail::set_stored(entries.values.data(), bytes, at++, from[k]);
      }
    }
    entries.rows.offsets.push_back(static_cast<Offset>(entries.rows.columns.size()));
  }
  if (entries.rows.columns.size() != state.entries) {
    throw Error(ErrorKind::internal, "a rank's parts do not have the entries it was given");
  }
  return entries;
}

template RankEntries DistributedOperator<float>::entries() const;
template RankEntries DistributedOperator<double>::entries() const;

}  // namespace heddle
