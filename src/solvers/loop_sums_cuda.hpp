// Partial sums that pass from one kernel of a loop to the next.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/arguments.hpp"

namespace heddle::cuda {

/// `sums`, of N numbers each, as every block of the next kernel can add them for itself: where they
/// are too many for that, a kernel of one block adds them into `room` first, `overlapped` as in
/// `Product::Call`.
template <int N>
device::PartialSums for_every_block(const device::PartialSums& sums, double* room, bool overlapped,
                                    const Stream& stream);

}  // namespace heddle::cuda
