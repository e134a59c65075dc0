#include "heddle/csr.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

namespace {

enum class Fault { none, offsets, column, duplicate };

/// The first fault of one row; `seen` is scratch that grows to the longest unsorted row.
Fault fault_of_row(const PatternView& pattern, Index row, std::vector<Index>& seen, Index& column) {
  const Offset begin = pattern.offsets[row], end = pattern.offsets[row + 1];
  if (end < begin) return Fault::offsets;
  if (begin == end) return Fault::none;
  const Index* const columns = pattern.column;
  bool increasing = true;
  for (Offset i = begin + 1; i < end; ++i) increasing &= columns[i - 1] < columns[i];
  // Most rows are sorted, and their ends bound all that lies between.
  if (increasing && columns[begin] >= 0 && columns[end - 1] < pattern.columns) return Fault::none;
  for (Offset i = begin; i < end; ++i) {
    column = columns[i];
    if (column < 0 || column >= pattern.columns) return Fault::column;
  }
  seen.assign(pattern.column + begin, pattern.column + end);
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice == seen.end()) return Fault::none;
  column = *twice;
  return Fault::duplicate;
}

}  // namespace

void detail::check_arrays(const PatternView& pattern, std::size_t offsets, std::size_t column,
                          std::size_t values, int components) {
  if (pattern.rows < 0 || pattern.columns < 0) {
    throw Error(ErrorKind::size_mismatch, "a matrix of negative size");
  }
  if (offsets != static_cast<std::size_t>(pattern.rows) + 1) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(pattern.rows) +
                                              " rows needs one more offset than rows, not " +
                                              std::to_string(offsets));
  }
  const auto entries = static_cast<std::size_t>(pattern.offsets[pattern.rows]);
  if (column < entries || values != entries * static_cast<std::size_t>(components)) {
    throw Error(ErrorKind::size_mismatch,
                "the offsets promise " + std::to_string(entries) + " entries of " +
                    std::to_string(components) + " components, there are " +
                    std::to_string(column) + " columns and " + std::to_string(values) + " scalars");
  }
  check_pattern(pattern, Device::cpu().stream());
}

bool detail::has_sorted_columns(const PatternView& pattern, int team) {
  return parallel_all(team, pattern.rows, [&](Index row) {
    return std::is_sorted(pattern.column + pattern.offsets[row],
                          pattern.column + pattern.offsets[row + 1]);
  });
}

void check_sizes(const PatternView& pattern) {
  if (pattern.rows < 0 || pattern.columns < 0) {
    throw Error(ErrorKind::size_mismatch, "a matrix of negative size");
  }
  if (pattern.rows > 0 && !pattern.offsets) {
    throw Error(ErrorKind::usage, "a null pointer to the row offsets of a matrix");
  }
}

void check_pattern(const PatternView& pattern, const Stream& stream) {
  check_sizes(pattern);
  if (pattern.rows == 0) return;
  if (pattern.offsets[0] != 0) {
    throw Error(ErrorKind::malformed_file,
                "row offsets begin with " + std::to_string(pattern.offsets[0]) + " instead of 0");
  }
  // Offsets first: a decreasing one would make the check of columns read outside the array.
  for (Index row = 0; row < pattern.rows; ++row) {
    if (pattern.offsets[row + 1] < pattern.offsets[row]) {
      throw Error(ErrorKind::malformed_file, "row offsets decrease at row " + std::to_string(row));
    }
  }
  if (pattern.column == nullptr && pattern.entries() > 0) {
    throw Error(ErrorKind::usage, "a null pointer to the columns of a matrix");
  }
  std::atomic<Index> first_bad{pattern.rows};
  const int team = team_size(stream, pattern.entries() + pattern.rows);
  parallel_shares(team, pattern.rows, 0, [&](auto&& for_each) {
    std::vector<Index> seen;
    Index column = 0;
    for_each([&](Index row) {
      if (row > first_bad.load(std::memory_order_relaxed)) return;
      if (fault_of_row(pattern, row, seen, column) != Fault::none) lower(first_bad, row);
    });
  });
  const Index row = first_bad.load();
  if (row == pattern.rows) return;
  std::vector<Index> seen;
  Index column = 0;
  const std::string where = "row " + std::to_string(row) + " ";
  if (fault_of_row(pattern, row, seen, column) == Fault::column) {
    throw Error(ErrorKind::out_of_range, where + "names column " + std::to_string(column) +
                                             ", but there are " + std::to_string(pattern.columns) +
                                             " columns, counted from 0");
  }
  throw Error(ErrorKind::malformed_file, where + "names column " + std::to_string(column) +
                                             " twice; assemble from triplets to sum duplicates");
}

void check_pattern(const PatternView& pattern, const Device& device) {
  check_sizes(pattern);
  if constexpr (has_cuda) {
    // Arrays of the host are checked where they are.
    if (device.on_gpu() && pattern.rows > 0 && pattern.columns >= 0 && cuda::is_on_gpu(pattern)) {
      return cuda::check_pattern(pattern, device);
    }
  }
  check_pattern(pattern, device.stream());
}

}  // namespace heddle
