// A rank's entries out of the sliced storage of its parts.
#include <algorithm>
#include <array>
#include <utility>

#include "distributed_state.hpp"
#include "solvers/stored_scalars.hpp"
#include "solvers/user_rows.hpp"

namespace heddle {

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
  std::array<rank_entries::PartRows, 2> parts;
  if (state.interior.matrix)
    parts[0] = rank_entries::rows_of(*state.interior.matrix, host.stream());
  if (state.boundary.matrix)
    parts[1] = rank_entries::rows_of(*state.boundary.matrix, host.stream());

  const int bytes = state.entry->sizes.stored_bytes;
  const Offset width = state.entry->sizes.components;
  RankEntries entries;
  entries.rows.columns.reserve(state.entries);
  entries.values.resize(state.entries * static_cast<std::size_t>(state.entry->bytes()));
  std::vector<std::pair<long long, Offset>> order;  // columns, and entries of the part
  Offset at = 0;
  for (Index row = 0; row < rows(); ++row) {
    const Index position = state.basis->position(row);
    const bool is_interior = position < state.interior.rows.rows;
    const rank_entries::PartRows& part = parts[is_interior ? 0 : 1];
    const Index of_part = position - (is_interior ? 0 : state.boundary.rows.first_row);
    order.clear();
    for (Offset e = part.rows.begin(of_part); e < part.rows.begin(of_part + 1); ++e) {
      const Index column = part.rows.column[static_cast<std::size_t>(e)];
      order.emplace_back(is_interior ? of_own(column) : of_boundary(column), e);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [column, e] : order) {
      if (entries.rows.columns.size() == state.entries) break;  // refused below
      entries.rows.columns.push_back(column);
      for (Offset k = 0; k < width; ++k) {
        detail::set_stored(entries.values.data(), bytes, at++,
                           part.components[static_cast<std::size_t>(e * width + k)]);
      }
    }
    entries.rows.offsets.push_back(static_cast<Offset>(entries.rows.columns.size()));
  }
  if (entries.rows.columns.size() != state.entries) {
    throw Error(ErrorKind::internal, "a rank's parts have other entries than it was given");
  }
  return entries;
}

template RankEntries DistributedOperator<float>::entries() const;
template RankEntries DistributedOperator<double>::entries() const;

}  // namespace heddle
