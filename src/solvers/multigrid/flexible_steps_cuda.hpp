// The same numbers on a GPU, where sums were left. Defined in builds with CUDA.
#pragma once

#include "heddle/device.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::cuda {

/// `*number` = minus the first step, of two sums.
template <class S>
void set_first_step(const double* sums, Coefficient<Ring::real, S>* number, const Stream& stream);

/// Two numbers: both steps, of all sums.
template <class S>
void set_both_steps(const double* sums, Coefficient<Ring::real, S>* numbers, const Stream& stream);

}  // namespace heddle::cuda
