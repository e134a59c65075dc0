// Scalars of Krylov loops, kept on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "heddle/device.hpp"
#include "textbook_scalars.hpp"

namespace heddle::bench {

/// Queues `textbook::compute` on scalars in GPU memory.
template <class T>
void compute_on_gpu(Coefficient which, TextbookScalars<T>* scalars, const Stream& stream);

/// Queues 1 / `*number`, or 0 for 0.
template <class T>
void invert_on_gpu(const real_of_t<T>* number, T* inverse, const Stream& stream);

}  // namespace heddle::bench
