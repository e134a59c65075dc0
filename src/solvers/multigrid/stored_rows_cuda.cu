#include "stored_rows_cuda.hpp"

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "setup_rows.hpp"

namespace heddle::cuda {

DevicePattern stored_rows(const SlicedPattern& pattern, Array<Offset>& slot, const Device& device) {
  const Stream& stream = device.stream();
  DevicePattern rows;
  rows.rows = pattern.rows;
  rows.columns = pattern.columns;
  rows.offsets = Array<Offset>(static_cast<std::size_t>(pattern.rows) + 1, device);
  rows.column = Array<Index>(static_cast<std::size_t>(pattern.entries), device);
  slot = Array<Offset>(rows.column.size(), device);
  const device::SlicedRows sliced{pattern.view(),
                                  pattern.row_length.empty() ? nullptr : pattern.row_length.data(),
                                  pattern.column.data(),
                                  pattern.target.empty() ? nullptr : pattern.target.data(),
                                  pattern.row_basis->user_rows_on(device),
                                  pattern.column_basis->user_rows_on(device)};
  const TemporaryMemory temporary(device);
  Array<Offset> longest(1, temporary.device());
  for_each_index(stream, pattern.rows,
                 [=, to = rows.offsets.data(), most = longest.data()] __device__(Offset at) {
                   const auto stored = static_cast<Index>(at);
                   const Offset length = sliced.length(stored);
                   to[sliced.user_row(stored)] = length;
                   if (length > *most) atomicMax(most, length);
                 });
  exclusive_sum(rows.offsets.data(), Offset(pattern.rows) + 1, temporary.device());
  constexpr int lanes = 8;
  for_each_index(stream, Offset(pattern.rows) * lanes,
                 [=, offset = rows.offsets.data(), column = rows.column.data(),
                  slots = slot.data()] __device__(Offset at) {
                   const auto stored = static_cast<Index>(at / lanes);
                   const Offset first = offset[sliced.user_row(stored)];
                   sliced.list(stored, static_cast<int>(at % lanes), lanes, column + first,
                               slots + first);
                 });
  rows.longest = longest.to_host()[0];
  return rows;
}

}  // namespace heddle::cuda
