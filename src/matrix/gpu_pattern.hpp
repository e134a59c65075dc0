// The parts of sliced storage that run on a GPU, defined in builds that have CUDA.
#pragma once

#include <memory>
#include <vector>

#include "heddle/detail/diagonal_search.hpp"
#include "heddle/detail/sliced.hpp"

namespace heddle::cuda {

/// True for arrays that a GPU's kernels can read; false if there are none.
bool is_on_gpu(const PatternView& pattern);

/// Number of entries, read where the offsets lie; the offsets need not have been checked.
Offset entries_of(const PatternView& pattern, const Stream& stream);

/// A pattern that the host can read, with copies of those of its arrays that lie on a GPU.
class HostPattern {
 public:
  HostPattern(const PatternView& pattern, const Stream& stream, bool with_columns = true);
  const PatternView& view() const { return view_; }

 private:
  PatternView view_;
  std::vector<Offset> wide_;
  std::vector<Index> narrow_;
  std::vector<Index> column_;
};

/// A pattern that kernels can read, with copies of those of its arrays that lie in the host's
/// memory. Columns are copied only on request.
class StagedPattern {
 public:
  StagedPattern(const PatternView& pattern, const Device& device);
  void stage_columns();

  const PatternView& view() const { return view_; }
  Offset entries() const { return entries_; }
  /// Bytes that staging the whole pattern takes, and the offsets alone.
  static long long bytes(const PatternView& pattern, Offset entries);
  static long long bytes_of_offsets(const PatternView& pattern);

 private:
  Device device_;
  PatternView view_;
  Offset entries_ = 0;
  Array<Offset> wide_;
  Array<Index> narrow_;
  Array<Index> column_;
};

/// Throws what the CPU's `check_pattern` throws.
void check_pattern(const PatternView& pattern, const Device& device);

/// `order` (on the GPU; empty for the natural one) sorted by length, stable and longest first,
/// within windows of `window` rows. Empty if the result is the natural order.
Array<Index> sorted_by_length(const PatternView& pattern, Index window, Array<Index> order,
                              const Device& device);

/// MemoryUse::sorting of a plan.
long long sorting_bytes(const PatternView& pattern, const Plan& plan, const Stream& stream);

/// Like `SlicedPattern::build`, with its arrays on the GPU.
std::shared_ptr<const SlicedPattern> build_sliced(const PatternView& given, const Plan& plan,
                                                  std::shared_ptr<const Basis> row_basis,
                                                  std::shared_ptr<const Basis> column_basis,
                                                  EntryBytes entry_bytes, const Device& device,
                                                  long long memory_limit);

/// MemoryUse::building. `on_host`: the pattern as the host can read it; `order_bytes`: bytes of a
/// storage order of its own.
long long building_bytes(const PatternView& pattern, const PatternView& on_host,
                         long long order_bytes, const Stream& stream);

/// The slot of each entry.
void find_slots(const SlicedPattern& A, Offset* slot_of_entry, const Stream& stream);

void find_diagonal(const detail::DiagonalSearch& search, Index rows, Offset* slots,
                   const Stream& stream);

}  // namespace heddle::cuda
