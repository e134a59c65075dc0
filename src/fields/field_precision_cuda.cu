#include "base/launch_cuda.cuh"
#include "field_precision.hpp"

namespace heddle::cuda {

void narrow_field(double factor, const double* x, float* y, Offset scalars, const Stream& stream) {
  for_each_index(stream, scalars,
                 [=] __device__(Offset i) { y[i] = static_cast<float>(factor * x[i]); });
}

void add_widened(double factor, const float* x, double* y, Offset scalars, const Stream& stream) {
  for_each_index(stream, scalars,
                 [=] __device__(Offset i) { y[i] += factor * static_cast<double>(x[i]); });
}

}  // namespace heddle::cuda
