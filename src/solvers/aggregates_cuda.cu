#include "aggregates_cuda.hpp"

#include <algorithm>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "setup_rows.hpp"

namespace heddle::cuda {

heddle::detail::Aggregates aggregate(const DevicePattern& a, const DeviceNorms& norms,
                                     double strength, const Device& device) {
  using heddle::detail::Aggregates;
  const Stream& stream = device.stream();
  const TemporaryMemory temporary(device);
  const auto rows = static_cast<std::size_t>(a.rows);
  const device::StrongRows strong{a.view(), norms.squared.data(), norms.diagonal.data(),
                                  std::max(strength * strength, heddle::detail::least_squared)};
  // The strong columns, row by row, to the host.
  UnsetArray<Offset> begins(rows + 1, temporary.device());
  for_each_index(stream, Offset(a.rows) + 1,
                 [=, to = begins.data(), count = a.rows] __device__(Offset row) {
                   to[row] = row < count ? strong.count(static_cast<Index>(row)) : 0;
                 });
  exclusive_sum(begins.data(), Offset(a.rows) + 1, temporary.device());
  UnsetArray<Offset> begins_here(rows + 1);
  heddle::detail::copy_bytes(begins_here.data(), begins.data(), begins.span().size_bytes(), stream);
  const auto connections = static_cast<std::size_t>(begins_here[rows]);
  UnsetArray<Index> columns(connections, temporary.device()), columns_here(connections);
  for_each_index(stream, a.rows,
                 [=, begin = begins.data(), to = columns.data()] __device__(Offset row) {
                   strong.list(static_cast<Index>(row), to + begin[row]);
                 });
  heddle::detail::copy_bytes(columns_here.data(), columns.data(), columns.span().size_bytes(),
                             stream);
  Array<Index> roots(rows, Device::cpu(), 0xff);
  Aggregates result;
  result.count = heddle::detail::take_roots(
      a.rows,
      [&](Index row) {
        const Offset begin = begins_here[static_cast<std::size_t>(row)];
        const Offset end = begins_here[static_cast<std::size_t>(row) + 1];
        return std::span<const Index>(columns_here.data() + begin,
                                      static_cast<std::size_t>(end - begin));
      },
      roots.data());
  // All join what the roots took.
  const Array<Index> taken(roots.span(), temporary.device());
  result.of = Array<Index>(rows, device);
  Array<int> left(1, temporary.device());
  for_each_index(stream, a.rows,
                 [=, taken = taken.data(), of = result.of.data(), left = left.data(),
                  is_coupled = norms.is_coupled.data()] __device__(Offset at) {
                   const auto row = static_cast<Index>(at);
                   of[row] = strong.aggregate(row, taken, heddle::detail::likeness_of_norms);
                   if (of[row] < 0 && is_coupled[row] != 0) atomicAdd(left, 1);
                 });
  result.left = left.to_host()[0];
  return result;
}

DevicePattern tentative_pattern(const heddle::detail::Aggregates& aggregates,
                                const Device& device) {
  DevicePattern t;
  t.rows = static_cast<Index>(aggregates.of.size());
  t.columns = aggregates.count;
  t.longest = 1;
  t.offsets = Array<Offset>(aggregates.of.size() + 1, device);
  const Index* const of = aggregates.of.data();
  const Stream& stream = device.stream();
  for_each_index(stream, t.rows, [=, to = t.offsets.data()] __device__(Offset row) {
    to[row] = of[row] >= 0 ? 1 : 0;
  });
  const TemporaryMemory temporary(device);
  exclusive_sum(t.offsets.data(), Offset(t.rows) + 1, temporary.device());
  Offset entries = 0;
  heddle::detail::copy_bytes(&entries, t.offsets.data() + t.rows, sizeof entries, stream);
  t.column = Array<Index>(static_cast<std::size_t>(entries), device);
  for_each_index(stream, t.rows,
                 [=, begin = t.offsets.data(), to = t.column.data()] __device__(Offset row) {
                   if (of[row] >= 0) to[begin[row]] = of[row];
                 });
  return t;
}

}  // namespace heddle::cuda
