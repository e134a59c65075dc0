// Rows too long for one thread to rank an entry among the others: their entries are taken together,
// one thread each, and sorted together.
#pragma once

#include <vector>

#include "base/sort_cuda.hpp"
#include "heddle/csr.hpp"

namespace heddle::cuda {

/// The longest row in which the place of an entry is found by comparing it with all others.
inline constexpr Index longest_ranked = 256;

struct RowStatistics {
  Index longest = 0;
  Index long_rows = 0;                  // rows of more than `longest_ranked` entries
  unsigned long long long_entries = 0;  // entries in those rows
};

/// Statistics of a pattern that lies on the GPU.
RowStatistics row_statistics(const PatternView& pattern, const Device& device);

/// Entries of some long rows, on the GPU. Entry i belongs to the row numbered key >> 32 here. Its
/// column is the key's lower half, and its index in that row was `value`.
struct LongRows {
  Offset count = 0;              // number of entries
  const Index* row = nullptr;    // by the row's number
  const Index* begin = nullptr;  // by the row's number: its first entry here
  const unsigned long long* key = nullptr;
  const Index* value = nullptr;
};

/// All long rows, in batches of at most 2^22 entries or one row.
class LongRowBatches {
 public:
  /// Rows are `order[i]`, or i if `order` is null; columns are `position[column]`, or unchanged.
  /// `sorts`: sorts each row by column.
  LongRowBatches(const PatternView& pattern, const Index* order, const Index* position, bool sorts,
                 const RowStatistics& statistics, const Device& device);

  /// The next batch, until its count is 0; valid until the next call. Its rows are numbers i.
  LongRows next();

  static long long bytes(const RowStatistics& statistics, const Stream& stream);

 private:
  Device device_;
  PatternView pattern_;
  const Index* order_;
  const Index* position_;
  bool sorts_;
  std::vector<Index> begin_on_host_;  // begins of rows within their batches: 0 begins the next one
  std::vector<Index> length_on_host_;
  Array<Index> row_;
  Array<Index> begin_;
  SortBuffers buffers_;
  std::size_t done_ = 0;  // number of rows
};

}  // namespace heddle::cuda
