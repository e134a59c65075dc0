#include <algorithm>
#include <string>
#include <vector>

#include "base/memory_limits.hpp"
#include "base/profiler_range.hpp"
#include "base/unset_array.hpp"
#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/tools/team.hpp"
#include "short_columns.hpp"
#include "slice_shapes.hpp"

namespace heddle {

Index SlicedPattern::slice_of(Index row) const {
  if (first_row.empty()) return row / (C / T);
  return last_not_above(first_row.data(), slices(), row);
}

namespace {

/// The stored rows in the order of the row basis, or sorted further if the product scatters.
Array<Index> order_of_storage(const PatternView& pattern, const Plan& plan, const Basis& row_basis,
                              const Device& device) {
  if (plan.layout.basis == BasisUse::user) return storage_order(pattern, plan, device);
  if (row_basis.is_natural()) return {};
  Array<Index> order(static_cast<std::size_t>(pattern.rows), device);
  for (Index i = 0; i < pattern.rows; ++i) {
    order[static_cast<std::size_t>(i)] = row_basis.user_row(i);
  }
  return order;
}

/// Compressed rows, which stay as they are.
void copy_rows(SlicedPattern& sliced, const PatternView& pattern, const Device& device) {
  const auto rows = static_cast<std::size_t>(pattern.rows),
             slots = static_cast<std::size_t>(sliced.slots);
  UnsetArray<Offset> offset(rows + 1, device);
  UnsetArray<Index> column(slots + SlicedPattern::column_slack, device);
  offset[0] = 0;
  parallel_for(team_size(device.stream(), pattern.entries()), pattern.rows, [&](Index row) {
    offset[static_cast<std::size_t>(row) + 1] = pattern.offsets[Offset(row) + 1];
  });
  detail::copy_bytes(column.data(), pattern.column, slots * sizeof(Index), device.stream());
  std::fill(column.begin() + sliced.slots, column.end(), 0);
  sliced.offset = std::move(offset).into_array();
  sliced.column = std::move(column).into_array();
}

/// Places the columns of all slots and, if needed, lengths, targets and entries.
void place_columns(SlicedPattern& sliced, const PatternView& pattern, const Plan& plan,
                   const Array<Index>& order, const std::vector<detail::SliceShape>& shapes,
                   int team) {
  const Basis& columns_in = *sliced.column_basis;
  const bool maps = !sliced.entry_of_slot.is_identity();
  parallel_shares(team, shapes.size(), 0, [&](auto&& for_each) {
    std::vector<std::pair<Index, Offset>> row_entries;  // column in the basis, the user's entry
    for_each([&](std::size_t s) {
      const detail::SliceShape& shape = shapes[s];
      const int T = shape.threads;
      for (Index r = 0; r < shape.rows; ++r) {
        const Index stored = shape.first_row + r;
        const Index user = order.empty() ? stored : order[static_cast<std::size_t>(stored)];
        const Offset begin = pattern.offsets[user];
        const Index length = pattern.length(user);
        row_entries.resize(static_cast<std::size_t>(length));
        for (Index j = 0; j < length; ++j) {
          row_entries[static_cast<std::size_t>(j)] = {
              columns_in.position(pattern.column[begin + j]), begin + j};
        }
        if (plan.layout.columns == ColumnOrder::sorted) {
          std::sort(row_entries.begin(), row_entries.end());
        }
        for (Index j = 0; j < length; ++j) {
          const auto& [column, entry] = row_entries[static_cast<std::size_t>(j)];
          const Offset slot = slot_of(sliced.offset[s], sliced.C, T, r, j);
          sliced.column[static_cast<std::size_t>(slot)] = column;
          if (maps) sliced.entry_of_slot.set(slot, entry);
        }
        if (sliced.C != 1) sliced.row_length[static_cast<std::size_t>(stored)] = length;
        if (!sliced.target.empty()) {
          sliced.target[static_cast<std::size_t>(stored)] = sliced.row_basis->position(user);
        }
      }
    });
  });
}

}  // namespace

std::shared_ptr<const SlicedPattern> SlicedPattern::build(
    const PatternView& pattern, const Plan& plan, std::shared_ptr<const Basis> row_basis,
    std::shared_ptr<const Basis> column_basis, EntryBytes entry_bytes, const Device& device,
    std::optional<long long> memory_limit) {
  const Range range("build sliced storage");
  check_plan(plan);
  if (row_basis->size() != pattern.rows || column_basis->size() != pattern.columns) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(pattern.rows) + " x " +
                                              std::to_string(pattern.columns) +
                                              " does not fit bases of " +
                                              std::to_string(row_basis->size()) + " and " +
                                              std::to_string(column_basis->size()));
  }
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      const long long limit = memory_limit.value_or(device.available_memory());
      return cuda::build_sliced(pattern, plan, std::move(row_basis), std::move(column_basis),
                                entry_bytes, device, limit);
    }
  }
  const Stream stream = device.stream();
  const Array<Index> order = order_of_storage(pattern, plan, *row_basis, device);

  auto built = std::make_shared<SlicedPattern>();
  SlicedPattern& sliced = *built;
  const bool scatters =
      plan.layout.basis == BasisUse::user && (!order.empty() || !row_basis->is_natural());
  const long long basis_bytes =
      row_basis->bytes() + (column_basis == row_basis ? 0 : column_basis->bytes());
  const bool identity =
      detail::keeps_order(pattern, plan, !order.empty(), column_basis->is_natural(), stream);
  const bool is_compressed = identity && !scatters && plan.layout.lanes == 1 &&
                             plan.layout.threshold == 0 && plan.layout.threads_per_row == 1 &&
                             column_basis->is_natural();
  sliced.memory =
      is_compressed ? detail::account_of(pattern.rows, pattern.entries(), plan, 1, pattern.rows,
                                         pattern.entries(), entry_bytes, basis_bytes, false, false)
                    : detail::memory_of(pattern, plan, order.span(), entry_bytes, basis_bytes,
                                        scatters, !identity);
  const long long limit =
      memory_limit ? *memory_limit : available_memory_for(sliced.memory.peak(), device);
  check_memory(sliced.memory, limit, pattern, entry_bytes, device);

  sliced.rows = pattern.rows;
  sliced.columns = pattern.columns;
  sliced.entries = pattern.entries();
  sliced.slots = sliced.memory.slots;
  sliced.C = detail::lanes_of(pattern, plan);
  sliced.T = plan.layout.threads_per_row;
  sliced.row_basis = std::move(row_basis);
  sliced.column_basis = std::move(column_basis);
  if (is_compressed) {
    copy_rows(sliced, pattern, device);
    detail::shorten_columns(sliced, plan, device);
    return built;
  }

  std::vector<detail::SliceShape> shapes;
  detail::for_each_slice(pattern, plan, order.span(),
                         [&](const detail::SliceShape& shape) { shapes.push_back(shape); });
  sliced.offset = Array<Offset>(shapes.size() + 1, device);
  if (plan.layout.threshold != 0) {
    sliced.first_row = Array<Index>(shapes.size() + 1, device);
    sliced.threads = Array<unsigned char>(shapes.size(), device);
    sliced.first_row[shapes.size()] = pattern.rows;
  }
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    sliced.offset[s + 1] = sliced.offset[s] + static_cast<Offset>(shapes[s].steps) * sliced.C;
    if (plan.layout.threshold == 0) continue;
    sliced.first_row[s] = shapes[s].first_row;
    sliced.threads[s] = static_cast<unsigned char>(shapes[s].threads);
  }

  sliced.column = Array<Index>(static_cast<std::size_t>(sliced.slots) + column_slack, device);
  if (sliced.C != 1) {
    sliced.row_length = Array<Index>(static_cast<std::size_t>(pattern.rows), device);
  }
  if (scatters) sliced.target = Array<Index>(static_cast<std::size_t>(pattern.rows), device);
  if (!identity) sliced.entry_of_slot = EntryMap(sliced.entries, sliced.slots, device);

  place_columns(sliced, pattern, plan, order, shapes, team_size(stream, pattern.entries()));
  detail::shorten_columns(sliced, plan, device);
  return built;
}

}  // namespace heddle
