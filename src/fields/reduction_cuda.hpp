// Pinned memory for the results of sums; defined in builds with CUDA.
#pragma once

namespace heddle::cuda {

/// `detail::pinned_sums` numbers. Pinning takes longer than most sums, so what is given back is
/// kept for the next taker.
double* take_pinned_sums();
void give_back_pinned_sums(double* sums);

}  // namespace heddle::cuda
