// Partial sums that pass from one kernel of a loop to the next.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/rank_arguments.hpp"

namespace heddle::cuda {

/// Systems side by side, whose sums lie `stride` doubles apart.
struct SystemsOfSums {
  unsigned count = 1;
  Offset stride = 0;
};

/// `sums`, of up to 8 numbers each, in a form that every one of the next kernel's `blocks` can add
/// for itself: if they are too many for that, a kernel of one block per system first adds them into
/// `joined`, `overlapped` as in `Product::Call`. `sums` and `joined` are those of the first system.
device::PartialSums for_every_block(int numbers, const device::PartialSums& sums, unsigned blocks,
                                    double* joined, const SystemsOfSums& systems, bool overlapped,
                                    const Stream& stream);

/// The sums over the rows of all ranks, left in `joined`, from `parts` partial sums of each group
/// of 256 rows. Collective, see `RanksInLoop::queue_join`.
device::PartialSums joined_by_ranks(int numbers, int parts, double* partials, double* joined,
                                    const Stream& stream);

/// Arguments for a kernel that may join the sums itself, see `RanksInLoop::next_sums`.
device::SumsOfRanks sums_of_next_kernel(const Stream& stream);

/// True if the kernel that adds sums waits for the one before it, see kernels/loop.cuh.
bool can_overlap_sums(const Stream& stream);

}  // namespace heddle::cuda
