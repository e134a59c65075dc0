#include <limits>
#include <string>
#include <utility>

#include "base/device_cuda.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/error.hpp"
#include "matrix/gpu_pattern.hpp"
#include "sorted_rows_cuda.hpp"
#include "staged_entries_cuda.hpp"
#include "tree_builder_cuda.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

namespace {

void refuse_many(Offset entries) {
  if (entries <= std::numeric_limits<Index>::max()) return;
  throw Error(ErrorKind::unsupported,
              "a GPU builds trees of fewer than 2^31 entries, not " + std::to_string(entries));
}

bool are_offsets_good(const PatternView& pattern, const Device& device) {
  Array<int> bad(1, device);
  for_each_index(device.stream(), pattern.rows, [pattern, bad = bad.data()] __device__(Offset row) {
    const OffsetsView& offsets = pattern.offsets;
    if (offsets[row + 1] < offsets[row] || (row == 0 && offsets[0] != 0)) *bad = 1;
  });
  return bad.to_host()[0] == 0;
}

/// Finds first the rows in which chunks of entries begin, then those of all entries between them.
template <class T>
void find_rows(const T* offsets, Index rows, UnsetArray<Index>& row, const Device& device) {
  constexpr Offset chunk = 64;
  const auto entries = static_cast<Offset>(row.size());
  if (entries == 0) return;
  const Offset chunks = (entries + chunk - 1) / chunk;
  UnsetArray<Index> first(static_cast<std::size_t>(chunks) + 1, device);
  for_each_index(device.stream(), chunks + 1, [=, first = first.data()] __device__(Offset k) {
    const Offset i = k < chunks ? k * chunk : entries - 1;
    first[k] = last_not_above(offsets, rows, static_cast<T>(i));
  });
  for_each_index(
      device.stream(), entries, [=, first = first.data(), row = row.data()] __device__(Offset i) {
        const Index begin = first[i / chunk], end = first[i / chunk + 1];
        row[i] = begin + last_not_above(offsets + begin, end - begin + 1, static_cast<T>(i));
      });
  wait_before_memory_goes_back(device);
}

UnsetArray<Index> rows_of_entries(const PatternView& pattern, Offset entries,
                                  const Device& device) {
  UnsetArray<Index> row(static_cast<std::size_t>(entries), device);
  if (pattern.offsets.wide() != nullptr) {
    find_rows(pattern.offsets.wide(), pattern.rows, row, device);
  } else {
    find_rows(pattern.offsets.narrow(), pattern.rows, row, device);
  }
  return row;
}

enum class Fault { none, outside, twice };

/// The tree, unless there is a fault.
std::optional<heddle::detail::Tree> tree_of(const PlacesOnGpu& places, const NodeShape& leaf,
                                            const EntriesToStore& entries, Fault& fault,
                                            const Device& device, const Device& work,
                                            const std::optional<long long>& limit) {
  bool inside = true;
  LevelOnGpu leaves = level_of(places, leaf, inside, work);
  fault = inside ? Fault::none : Fault::outside;
  if (!inside) return {};
  TreeBuilderOnGpu builder(places.rows, places.columns, std::move(leaves), device, work, limit);
  const StagedEntries staged(entries, places.count, leaf.payload_bytes, work);
  Array<int> twice(1, work);
  heddle::detail::fill_bytes(
      builder.pool(), 0, static_cast<std::size_t>(builder.leaves().counts.bytes), work.stream());
  write_level(builder.leaves(), staged.payloads(), builder.pool(), twice.data(), work);
  if (twice.to_host()[0] != 0) {
    fault = Fault::twice;
    return {};
  }
  return builder.finish();
}

/// The CPU words the error.
[[noreturn]] void report(const PatternView& pattern, bool with_columns, const Device& device) {
  const HostPattern host(pattern, device.stream(), with_columns);
  heddle::check_pattern(host.view(), Device::cpu(device.threads()).stream());
  throw Error(ErrorKind::internal, "GPU and CPU disagree on whether a pattern is well formed");
}

}  // namespace

heddle::detail::Tree tree_of_rows(const PatternView& pattern, const NodeShape& leaf,
                                  const EntriesToStore& entries, const Device& device,
                                  const std::optional<long long>& limit) {
  StagedPattern staged(pattern, device);
  if (!are_offsets_good(staged.view(), device)) report(pattern, false, device);
  refuse_many(staged.entries());
  staged.stage_columns();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  if (auto leaves = leaves_of_sorted_rows(staged.view(), staged.entries(), leaf, device, work)) {
    TreeBuilderOnGpu builder(pattern.rows, pattern.columns, std::move(leaves->level), device, work,
                             limit.value_or(leaves->available));
    const StagedEntries there(entries, staged.entries(), leaf.payload_bytes, work);
    write_leaves(builder.leaves(), *leaves, staged.view(), there.payloads(), builder.pool(), work);
    return builder.finish();
  }
  const UnsetArray<Index> row = rows_of_entries(staged.view(), staged.entries(), work);
  const PlacesOnGpu places{row.data(), staged.view().column, staged.entries(), pattern.rows,
                           pattern.columns};
  Fault fault = Fault::none;
  auto tree = tree_of(places, leaf, entries, fault, device, work, limit);
  if (!tree) report(pattern, true, device);
  return std::move(*tree);
}

heddle::detail::Tree tree_of_places(Index rows, Index columns, Offset entries, const Index* row,
                                    const Index* column, const NodeShape& leaf,
                                    const EntriesToStore& values, const Device& device,
                                    const std::optional<long long>& limit) {
  refuse_many(entries);
  if (entries > 0) {
    static_cast<void>(is_device_memory(row, device.stream()));
    static_cast<void>(is_device_memory(column, device.stream()));
  }
  Fault fault = Fault::none;
  const TemporaryMemory space(device);
  auto tree = tree_of({row, column, entries, rows, columns}, leaf, values, fault, device,
                      space.device(), limit);
  if (tree) return std::move(*tree);
  if (fault == Fault::outside) {
    throw Error(ErrorKind::out_of_range, "an entry is outside a matrix of " + std::to_string(rows) +
                                             " x " + std::to_string(columns) +
                                             " entries, counted from 0");
  }
  throw Error(ErrorKind::usage, "two entries have the same row and column: add them first");
}

}  // namespace heddle::cuda
