// Primitives as CUB's calls, and those of Heddle that are parts of larger kernels as kernels of
// their own. Each is work that is queued, on arrays in the GPU's memory that outlive it.
#pragma once

#include <functional>

#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::bench {

using QueuedWork = std::function<void(const Stream&)>;

/// *result = the sum of the products x_i y_i, in double. S is float or double.
template <class S>
QueuedWork cub_dot(const S* x, const S* y, Offset count, double* result, const Device& device);
/// *result = the largest |x_i|.
template <class S>
QueuedWork cub_largest_magnitude(const S* x, Offset count, double* result, const Device& device);

/// The longest of `rows` rows; waits for the GPU, as the set-up of a matrix does.
Index cub_longest_row(const Offset* offsets, Index rows, const Device& device);

/// counts[k] = how often the number k, below `numbers`, is among `count` numbers.
QueuedWork cub_counts(const int* number, Offset count, int* counts, int numbers,
                      const Device& device);
/// The same by `take_number`, which trees count the entries of their nodes by.
QueuedWork own_counts(const int* number, Offset count, int* counts, int numbers);

/// list = the i < count with value[i] >= least, and *listed their number.
QueuedWork cub_list(const int* value, int least, Offset count, int* list, int* listed,
                    const Device& device);
/// The same by `take_number`, in any order.
QueuedWork own_list(const int* value, int least, Offset count, int* list, int* listed);

/// before[i] = the sum of the values before i in the same 256 of `blocks` times 256 values.
QueuedWork cub_sums_of_blocks(const Offset* value, Offset blocks, Offset* before);
/// The same by `sums_of_block`.
QueuedWork own_sums_of_blocks(const Offset* value, Offset blocks, Offset* before);

}  // namespace heddle::bench
