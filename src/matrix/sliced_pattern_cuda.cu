#include <algorithm>
#include <memory>
#include <utility>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "gpu_pattern.hpp"
#include "long_rows_cuda.hpp"
#include "short_columns.hpp"
#include "slice_shapes.hpp"

namespace heddle::cuda {

namespace {

constexpr Index threads_of_row = 8;

/// Stored rows and their lengths, as kernels can read them.
struct StoredRows {
  PatternView pattern;
  const Index* order;  // null for the natural one

  __device__ Index user_row(Index stored) const {
    return order != nullptr ? order[stored] : stored;
  }
  __device__ Index length(Index stored) const { return pattern.length(user_row(stored)); }
};

__device__ void raise(Index* most, Index value) {
  if (value > *most) atomicMax(most, value);  // most rows need no atomic operation
}

/// Leaves in each slice's offset the slots that its longest row takes, and then their sum.
void sum_offsets(SlicedPattern& sliced, const Index* longest, const Device& device) {
  const Index slices = sliced.slices();
  for_each_index(device.stream(), slices,
                 [longest, C = sliced.C, T = sliced.T, threads = sliced.threads.data(),
                  offset = sliced.offset.data()] __device__(Offset s) {
                   offset[s] =
                       Offset(steps_of_row(longest[s], threads != nullptr ? threads[s] : T)) * C;
                 });
  exclusive_sum(sliced.offset.data(), Offset(slices) + 1, device);
}

/// The longest of each `group` rows.
Array<Index> longest_of_groups(const StoredRows& rows, Index group, const Device& device) {
  const Index groups = slices_of_rows(rows.pattern.rows, group, 1);
  Array<Index> longest(static_cast<std::size_t>(groups), device);
  for_each_index(device.stream(), rows.pattern.rows,
                 [=, most = longest.data()] __device__(Offset stored) {
                   raise(most + stored / group, rows.length(static_cast<Index>(stored)));
                 });
  return longest;
}

void cut_evenly(SlicedPattern& sliced, const StoredRows& rows, const Device& device) {
  const Array<Index> longest = longest_of_groups(rows, sliced.C / sliced.T, device);
  sliced.offset = Array<Offset>(longest.size() + 1, device);
  sum_offsets(sliced, longest.data(), device);
  device.synchronize();  // before memory is released
}

/// K2: the rows of each block of C share its threads.
void cut_by_threshold(SlicedPattern& sliced, const StoredRows& rows, Index threshold,
                      const Device& device) {
  const Stream& stream = device.stream();
  const Index C = sliced.C, n = rows.pattern.rows;
  const Array<Index> longest_of_block = longest_of_groups(rows, C, device);
  const auto blocks = static_cast<Offset>(longest_of_block.size());
  Array<Offset> first_slice(longest_of_block.size() + 1, device);
  for_each_index(
      stream, blocks,
      [=, longest = longest_of_block.data(), slices = first_slice.data()] __device__(Offset block) {
        const auto left = static_cast<Index>(n - block * C);
        slices[block] =
            slices_of_rows(left < C ? left : C, C, threads_of_block(longest[block], C, threshold));
      });
  exclusive_sum(first_slice.data(), blocks + 1, device);
  Offset slices = 0;
  heddle::detail::copy_bytes(&slices, first_slice.data() + blocks, sizeof slices, stream);
  const auto count = static_cast<std::size_t>(slices);
  sliced.offset = Array<Offset>(count + 1, device);
  sliced.first_row = Array<Index>(count + 1, device);
  sliced.threads = Array<unsigned char>(count, device);
  Array<Index> longest_of_slice(count, device);
  for_each_index(stream, Offset(n) + 1,
                 [=, longest = longest_of_block.data(), first = first_slice.data(),
                  first_row = sliced.first_row.data(), threads = sliced.threads.data(),
                  most = longest_of_slice.data()] __device__(Offset i) {
                   const auto stored = static_cast<Index>(i);
                   if (stored == n) {
                     first_row[slices] = n;
                     return;
                   }
                   const Index block = stored / C;
                   const int T = threads_of_block(longest[block], C, threshold);
                   const Index rows_of_slice = C / T;
                   const Offset slice = first[block] + stored % C / rows_of_slice;
                   raise(most + slice, rows.length(stored));
                   if (stored % C % rows_of_slice != 0) return;
                   first_row[slice] = stored;
                   threads[slice] = static_cast<unsigned char>(T);
                 });
  sum_offsets(sliced, longest_of_slice.data(), device);
  device.synchronize();  // before memory is released
}

/// Like `detail::has_sorted_columns`, wherever the arrays lie.
bool has_sorted_columns(const PatternView& given, StagedPattern& pattern, const Device& device) {
  if (!is_on_gpu(given)) {
    return heddle::detail::has_sorted_columns(given, team_size(device.stream(), given.entries()));
  }
  pattern.stage_columns();
  Array<int> unsorted(1, device);
  for_each_index(device.stream(), Offset(given.rows) * threads_of_row,
                 [rows = pattern.view(), unsorted = unsorted.data()] __device__(Offset thread) {
                   const auto row = static_cast<Index>(thread / threads_of_row);
                   const Index length = rows.length(row);
                   const Index* column = rows.column + rows.offsets[row];
                   for (auto j = static_cast<Index>(thread % threads_of_row) + 1; j < length;
                        j += threads_of_row) {
                     if (column[j] < column[j - 1]) *unsorted = 1;
                   }
                 });
  return unsorted.to_host()[0] == 0;
}

/// The arrays to which an entry's column and slot are written.
struct Places {
  SlicesView slices;
  Index* column;
  unsigned* narrow;  // the map from slots to entries; both null if entries keep their order
  Offset* wide;

  __device__ void put(const SlicesView::RowPlace& row, Index j, Index column_of_entry,
                      Offset entry) const {
    const Offset slot = slot_of(row.offset, slices.C, row.T, row.r, j);
    column[slot] = column_of_entry;
    if (narrow != nullptr) narrow[slot] = static_cast<unsigned>(entry);
    if (wide != nullptr) wide[slot] = entry;
  }
};

/// Rows that are not long: each thread ranks a few entries of a row at a time among all of them.
void place_rows(const Places& places, const StoredRows& rows, const Index* position, bool sorts,
                const Stream& stream) {
  const Offset threads = Offset(rows.pattern.rows) * threads_of_row;
  for_each_index(stream, threads, [=] __device__(Offset thread) {
    constexpr Index at_a_time = 4;
    const auto stored = static_cast<Index>(thread / threads_of_row);
    const Index length = rows.length(stored);
    if (length > longest_ranked) return;
    const SlicesView::RowPlace row = places.slices.place_of(stored);
    const Offset begin = rows.pattern.offsets[rows.user_row(stored)];
    const auto column_of = [&](Index j) {
      const Index column = rows.pattern.column[begin + j];
      return position != nullptr ? position[column] : column;
    };
    for (auto first = static_cast<Index>(thread % threads_of_row); first < length;
         first += at_a_time * threads_of_row) {
      Index column[at_a_time], rank[at_a_time];
      for (Index u = 0; u < at_a_time; ++u) {
        const Index j = first + u * threads_of_row;
        column[u] = j < length ? column_of(j) : 0;
        rank[u] = sorts ? 0 : j;
      }
      for (Index j = 0; sorts && j < length; ++j) {
        const Index other = column_of(j);
        for (Index u = 0; u < at_a_time; ++u) rank[u] += other < column[u];
      }
      for (Index u = 0; u < at_a_time; ++u) {
        const Index j = first + u * threads_of_row;
        if (j < length) places.put(row, rank[u], column[u], begin + j);
      }
    }
  });
}

void place_long_rows(const Places& places, const StoredRows& rows, const Index* position,
                     bool sorts, const RowStatistics& statistics, const Device& device) {
  if (statistics.long_rows == 0) return;
  LongRowBatches batches(rows.pattern, rows.order, position, sorts, statistics, device);
  for (LongRows batch = batches.next(); batch.count > 0; batch = batches.next()) {
    for_each_index(device.stream(), batch.count, [=] __device__(Offset i) {
      const auto number = static_cast<Index>(batch.key[i] >> 32);
      const Index stored = batch.row[number];
      const Offset begin = rows.pattern.offsets[rows.user_row(stored)];
      places.put(places.slices.place_of(stored), static_cast<Index>(i) - batch.begin[number],
                 static_cast<Index>(batch.key[i] & 0xffffffffu), begin + batch.value[i]);
    });
  }
  device.synchronize();  // before memory is released
}

void describe_rows(SlicedPattern& sliced, const StoredRows& rows, const Device& device) {
  for_each_index(device.stream(), sliced.rows,
                 [=, length = sliced.row_length.data(), target = sliced.target.data(),
                  position = sliced.row_basis->positions_on(device)] __device__(Offset i) {
                   const auto stored = static_cast<Index>(i);
                   const Index user = rows.user_row(stored);
                   if (length != nullptr) length[i] = rows.length(stored);
                   if (target != nullptr) target[i] = position != nullptr ? position[user] : user;
                 });
}

}  // namespace

std::shared_ptr<const SlicedPattern> build_sliced(const PatternView& given, const Plan& plan,
                                                  std::shared_ptr<const Basis> row_basis,
                                                  std::shared_ptr<const Basis> column_basis,
                                                  EntryBytes entry_bytes, const Device& device,
                                                  long long memory_limit) {
  StagedPattern pattern(given, device);
  const bool scatters_order = plan.layout.basis == BasisUse::user;
  Array<Index> order;
  if (scatters_order) order = storage_order(given, plan, device);
  const StoredRows offsets{pattern.view(),
                           scatters_order ? order.data() : row_basis->user_rows_on(device)};

  auto built = std::make_shared<SlicedPattern>();
  SlicedPattern& sliced = *built;
  sliced.rows = given.rows;
  sliced.columns = given.columns;
  sliced.entries = pattern.entries();
  sliced.C = heddle::detail::lanes_of(given, plan);
  sliced.T = plan.layout.threads_per_row;
  sliced.row_basis = std::move(row_basis);
  sliced.column_basis = std::move(column_basis);
  if (plan.layout.threshold == 0) {
    cut_evenly(sliced, offsets, device);
  } else {
    cut_by_threshold(sliced, offsets, plan.layout.threshold, device);
  }
  heddle::detail::copy_bytes(&sliced.slots, sliced.offset.data() + sliced.slices(),
                             sizeof sliced.slots, device.stream());

  const bool scatters = scatters_order && (!order.empty() || !sliced.row_basis->is_natural());
  const bool identity =
      heddle::detail::keeps_order(plan, offsets.order != nullptr, sliced.column_basis->is_natural(),
                                  [&] { return has_sorted_columns(given, pattern, device); });
  const long long basis_bytes =
      sliced.row_basis->bytes() +
      (sliced.column_basis == sliced.row_basis ? 0 : sliced.column_basis->bytes());
  const RowStatistics statistics = row_statistics(pattern.view(), device);
  sliced.memory =
      heddle::detail::account_of(sliced.rows, sliced.entries, plan, sliced.C, sliced.slices(),
                                 sliced.slots, entry_bytes, basis_bytes, scatters, !identity);
  sliced.memory.building = StagedPattern::bytes(given, sliced.entries) +
                           static_cast<long long>(order.size() * sizeof(Index)) +
                           LongRowBatches::bytes(statistics, device.stream());
  sliced.memory.sorting = sorting_bytes(given, plan, device.stream());
  check_memory(sliced.memory, memory_limit, given, entry_bytes, device);

  pattern.stage_columns();
  const StoredRows rows{pattern.view(), offsets.order};
  sliced.column =
      Array<Index>(static_cast<std::size_t>(sliced.slots) + SlicedPattern::column_slack, device);
  if (!identity) sliced.entry_of_slot = EntryMap(sliced.entries, sliced.slots, device);
  const auto n = static_cast<std::size_t>(sliced.rows);
  if (sliced.C != 1) sliced.row_length = Array<Index>(n, device);
  if (scatters) sliced.target = Array<Index>(n, device);
  describe_rows(sliced, rows, device);
  const Places places{sliced.view(), sliced.column.data(), sliced.entry_of_slot.narrow(),
                      sliced.entry_of_slot.wide()};
  const Index* position = sliced.column_basis->positions_on(device);
  const bool sorts = plan.layout.columns == ColumnOrder::sorted && !identity;
  place_rows(places, rows, position, sorts, device.stream());
  place_long_rows(places, rows, position, sorts, statistics, device);
  heddle::detail::shorten_columns(sliced, plan, device);
  device.synchronize();  // a kernel's error belongs to this call; also before memory is released
  return built;
}

long long building_bytes(const PatternView& pattern, const PatternView& on_host,
                         long long order_bytes, const Stream& stream) {
  RowStatistics statistics;
  for (Index row = 0; row < on_host.rows; ++row) {
    const Index length = on_host.length(row);
    statistics.longest = std::max(statistics.longest, length);
    if (length <= longest_ranked) continue;
    ++statistics.long_rows;
    statistics.long_entries += static_cast<unsigned long long>(length);
  }
  return StagedPattern::bytes(pattern, on_host.entries()) + order_bytes +
         LongRowBatches::bytes(statistics, stream);
}

}  // namespace heddle::cuda
