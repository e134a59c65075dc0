#include <algorithm>
#include <bit>
#include <span>

#include "base/launch_cuda.cuh"
#include "heddle/detail/slice_arithmetic.hpp"
#include "long_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr Offset entries_of_batch = Offset(1) << 22;

struct LongRow {
  Index row;
  Index length;
};

std::size_t entries_in_batch(const RowStatistics& statistics) {
  const auto most = std::max<unsigned long long>(entries_of_batch, statistics.longest);
  return static_cast<std::size_t>(std::min(statistics.long_entries, most));
}

/// Long rows in ascending order, whatever the order in which the threads found them.
std::vector<LongRow> find_long_rows(const PatternView& pattern, const Index* order,
                                    const RowStatistics& statistics, const Device& device) {
  Array<LongRow> found(static_cast<std::size_t>(statistics.long_rows), device);
  Array<Index> count(1, device);
  for_each_index(device.stream(), statistics.long_rows > 0 ? pattern.rows : 0,
                 [=, list = found.data(), count = count.data()] __device__(Offset i) {
                   const auto row = static_cast<Index>(i);
                   const Index length = pattern.length(order != nullptr ? order[row] : row);
                   if (length > longest_ranked) list[atomicAdd(count, 1)] = {row, length};
                 });
  std::vector<LongRow> rows = found.to_host();
  std::sort(rows.begin(), rows.end(),
            [](const LongRow& a, const LongRow& b) { return a.row < b.row; });
  return rows;
}

}  // namespace

RowStatistics row_statistics(const PatternView& pattern, const Device& device) {
  Array<RowStatistics> statistics(1, device);
  for_each_index(device.stream(), pattern.rows,
                 [=, of_all = statistics.data()] __device__(Offset row) {
                   const Index length = pattern.length(static_cast<Index>(row));
                   if (length > of_all->longest) atomicMax(&of_all->longest, length);
                   if (length <= longest_ranked) return;
                   atomicAdd(&of_all->long_rows, 1);
                   atomicAdd(&of_all->long_entries, static_cast<unsigned long long>(length));
                 });
  return statistics.to_host()[0];
}

LongRowBatches::LongRowBatches(const PatternView& pattern, const Index* order,
                               const Index* position, bool sorts, const RowStatistics& statistics,
                               const Device& device)
    : device_(device),
      pattern_(pattern),
      order_(order),
      position_(position),
      sorts_(sorts),
      buffers_(entries_in_batch(statistics), device) {
  std::vector<Index> row;
  Offset held = 0;
  for (const LongRow& found : find_long_rows(pattern, order, statistics, device)) {
    if (held + found.length > static_cast<Offset>(buffers_.value[0].size())) held = 0;
    row.push_back(found.row);
    begin_on_host_.push_back(static_cast<Index>(held));
    length_on_host_.push_back(found.length);
    held += found.length;
  }
  row_ = Array<Index>(std::span<const Index>(row), device);
  begin_ = Array<Index>(std::span<const Index>(begin_on_host_), device);
}

LongRows LongRowBatches::next() {
  if (done_ == begin_on_host_.size()) return {};
  const std::size_t first = done_;
  do {
    ++done_;
  } while (done_ < begin_on_host_.size() && begin_on_host_[done_] != 0);
  const auto rows = static_cast<Index>(done_ - first);
  const Offset count = Offset(begin_on_host_[done_ - 1]) + length_on_host_[done_ - 1];
  buffers_.current = 0;
  LongRows batch{count, row_.data() + first, begin_.data() + first, nullptr, nullptr};
  for_each_index(
      device_.stream(), count,
      [rows, batch, pattern = pattern_, order = order_, position = position_,
       key = buffers_.key[0].data(), value = buffers_.value[0].data()] __device__(Offset i) {
        const Index number = last_not_above(batch.begin, rows, static_cast<Index>(i));
        const Index row = batch.row[number];
        const Index j = static_cast<Index>(i) - batch.begin[number];
        const Index column =
            pattern.column[pattern.offsets[order != nullptr ? order[row] : row] + j];
        key[i] = static_cast<unsigned long long>(number) << 32 |
                 static_cast<unsigned>(position != nullptr ? position[column] : column);
        value[i] = j;
      });
  if (sorts_) {
    const int key_bits = 32 + static_cast<int>(std::bit_width(static_cast<unsigned>(rows - 1)));
    sort_by_key(buffers_, count, key_bits, device_);
  }
  batch.key = buffers_.key[buffers_.current].data();
  batch.value = buffers_.value[buffers_.current].data();
  return batch;
}

long long LongRowBatches::bytes(const RowStatistics& statistics, const Stream& stream) {
  const auto bytes_of_row = static_cast<long long>(sizeof(LongRow) + 2 * sizeof(Index));
  return sort_bytes(static_cast<Offset>(entries_in_batch(statistics)), stream) +
         statistics.long_rows * bytes_of_row;
}

}  // namespace heddle::cuda
