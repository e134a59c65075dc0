#include "base/launch_cuda.cuh"
#include "gpu_pattern.hpp"
#include "long_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr Index threads_of_row = 8;

void find_bad_offsets(const PatternView& pattern, int* bad, const Stream& stream) {
  for_each_index(stream, pattern.rows, [=] __device__(Offset row) {
    const OffsetsView& offsets = pattern.offsets;
    if (offsets[row + 1] < offsets[row] || (row == 0 && offsets[0] != 0)) *bad = 1;
  });
}

void find_bad_columns(const PatternView& pattern, Offset entries, int* bad, const Stream& stream) {
  for_each_index(stream, entries, [=] __device__(Offset i) {
    if (pattern.column[i] < 0 || pattern.column[i] >= pattern.columns) *bad = 1;
  });
}

/// Finds a column that occurs twice in one of the rows that are not long.
void find_duplicates(const PatternView& pattern, int* bad, const Stream& stream) {
  const Offset threads = Offset(pattern.rows) * threads_of_row;
  for_each_index(stream, threads, [=] __device__(Offset thread) {
    const auto row = static_cast<Index>(thread / threads_of_row);
    const Index length = pattern.length(row);
    if (length > longest_ranked) return;
    const Index* column = pattern.column + pattern.offsets[row];
    for (auto i = static_cast<Index>(thread % threads_of_row); i < length; i += threads_of_row) {
      for (Index j = 0; j < i; ++j) {
        if (column[j] == column[i]) *bad = 1;
      }
    }
  });
}

void find_duplicates_in_long_rows(const PatternView& pattern, int* bad, const Device& device) {
  const RowStatistics statistics = row_statistics(pattern, device);
  if (statistics.long_rows == 0) return;
  LongRowBatches batches(pattern, nullptr, nullptr, true, statistics, device);
  for (LongRows batch = batches.next(); batch.count > 0; batch = batches.next()) {
    for_each_index(device.stream(), batch.count - 1, [=] __device__(Offset i) {
      if (batch.key[i] == batch.key[i + 1]) *bad = 1;
    });
  }
}

/// The CPU composes the error message.
void report(const PatternView& pattern, bool with_columns, const Device& device) {
  const HostPattern host(pattern, device.stream(), with_columns);
  heddle::check_pattern(host.view(), Device::cpu(device.threads()).stream());
  throw Error(ErrorKind::internal, "GPU and CPU disagree on whether a pattern is well formed");
}

}  // namespace

void check_pattern(const PatternView& pattern, const Device& device) {
  const Stream& stream = device.stream();
  StagedPattern staged(pattern, device);
  Array<int> bad(1, device);
  const auto is_bad = [&] {
    int found = 0;
    heddle::detail::copy_bytes(&found, bad.data(), sizeof found, stream);
    return found != 0;
  };
  // Offsets first: a decreasing one would make the check of columns read outside the array.
  find_bad_offsets(staged.view(), bad.data(), stream);
  if (is_bad()) report(pattern, false, device);
  staged.stage_columns();
  find_bad_columns(staged.view(), staged.entries(), bad.data(), stream);
  find_duplicates(staged.view(), bad.data(), stream);
  if (!is_bad()) find_duplicates_in_long_rows(staged.view(), bad.data(), device);
  if (is_bad()) report(pattern, true, device);
}

}  // namespace heddle::cuda
