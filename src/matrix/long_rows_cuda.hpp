// Rows too long for one thread to rank an entry among the others: their entries are taken together,
// a thread each, and sorted together.
#pragma once

#include <vector>

#include "base/sort_cuda.hpp"
#include "heddle/csr.hpp"

namespace heddle::cuda {

/// The longest row in which the place of an entry is found by comparing it with all others.
inline constexpr Index longest_ranked = 256;

struct RowStatistics {
  Index longest = 0;
  Index long_rows = 0;                  // of more than `longest_ranked` entries
  unsigned long long long_entries = 0;  // in them
};

/// Of a pattern that lies on the GPU.
RowStatistics row_statistics(const PatternView& pattern, const Device& device);

/// Entries of some long rows, on the GPU. Entry i is of the row numbered key >> 32 here; its column
/// is the key's lower half, and it was the value-th of its row.
struct LongRows {
  Offset count = 0;              // of entries
  const Index* row = nullptr;    // by number
  const Index* begin = nullptr;  // by number: its first entry here
  const unsigned long long* key = nullptr;
  const Index* value = nullptr;
};

/// All long rows, in batches of at most 2^22 entries or one row.
class LongRowBatches {
 public:
  /// Rows are `order[i]`, or i where that is null; columns `position[column]`, or as they are.
  /// `sorts`: each row by column.
  LongRowBatches(const PatternView& pattern, const Index* order, const Index* position, bool sorts,
                 const RowStatistics& statistics, const Device& device);

  /// The next batch, until its count is 0; it holds until the next call. Its rows are numbers i.
  LongRows next();

  static long long bytes(const RowStatistics& statistics, const Stream& stream);

 private:
  Device device_;
  PatternView pattern_;
  const Index* order_;
  const Index* position_;
  bool sorts_;
  std::vector<Index> begin_on_host_;  // of each long row within its batch: 0 begins the next one
  std::vector<Index> length_on_host_;
  Array<Index> row_;
  Array<Index> begin_;
  SortBuffers buffers_;
  std::size_t done_ = 0;  // rows
};

}  // namespace heddle::cuda
