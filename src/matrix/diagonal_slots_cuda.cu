#include "base/launch_cuda.cuh"
#include "gpu_pattern.hpp"

namespace heddle::cuda {

void find_diagonal(const detail::DiagonalSearch& search, Index rows, Offset* slots,
                   const Stream& stream) {
  constexpr Index threads_of_row = 8;
  for_each_index(stream, rows, [=] __device__(Offset row) { slots[row] = -1; });
  for_each_index(stream, Offset(rows) * threads_of_row, [=] __device__(Offset thread) {
    const auto stored = static_cast<Index>(thread / threads_of_row);
    const auto first = static_cast<Index>(thread % threads_of_row);
    const Offset slot = search.slot_among(stored, first, threads_of_row);
    if (slot >= 0) slots[search.row_of(stored)] = slot;
  });
}

}  // namespace heddle::cuda
