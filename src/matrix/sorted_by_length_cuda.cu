#include <bit>
#include <span>
#include <utility>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "gpu_pattern.hpp"

namespace heddle::cuda {

namespace {

bool is_natural(const Array<Index>& order, const Device& device) {
  Array<int> moved(1, device);
  for_each_index(device.stream(), static_cast<Offset>(order.size()),
                 [row = order.data(), moved = moved.data()] __device__(Offset i) {
                   if (row[i] != i) *moved = 1;
                 });
  return moved.to_host()[0] == 0;
}

}  // namespace

Array<Index> sorted_by_length(const PatternView& pattern, Index window, Array<Index> order,
                              const Device& device) {
  const Index n = pattern.rows;
  if (window == Layout::all_rows || window > n) window = n;
  if (window != 1) {
    const StagedPattern staged(pattern, device);
    SortBuffers buffers(static_cast<std::size_t>(n), device);
    for_each_index(device.stream(), n,
                   [window, rows = staged.view(), from = order.data(), key = buffers.key[0].data(),
                    value = buffers.value[0].data()] __device__(Offset i) {
                     const auto row = from != nullptr ? from[i] : static_cast<Index>(i);
                     const auto length = static_cast<unsigned>(rows.length(row));
                     key[i] = static_cast<unsigned long long>(i / window) << 32 | ~length;
                     value[i] = row;
                   });
    const auto last_window = static_cast<unsigned>((n - 1) / window);
    sort_by_key(buffers, n, 32 + static_cast<int>(std::bit_width(last_window)), device);
    // The keys are released before the order takes its room, as `sorting_bytes` counts. Not every
    // memory resource waits for the stream.
    device.synchronize();
    buffers.key[0] = {};
    buffers.key[1] = {};
    order = Array<Index>(
        std::span<const Index>(buffers.value[buffers.current].data(), static_cast<std::size_t>(n)),
        device);
    device.synchronize();
  }
  if (is_natural(order, device)) return {};
  return order;
}

long long sorting_bytes(const PatternView& pattern, const Plan& plan, const Stream& stream) {
  if (plan.layout.sort_window == 1) return 0;
  // With basis=user the offsets are staged for the build already.
  const int stagings = plan.layout.basis == BasisUse::user ? 2 : 1;
  const bool renumbers = plan.layout.order == RowOrder::reverse_cuthill_mckee;
  return stagings * StagedPattern::bytes_of_offsets(pattern) + sort_bytes(pattern.rows, stream) +
         (renumbers ? pattern.rows * static_cast<long long>(sizeof(Index)) : 0);
}

}  // namespace heddle::cuda
