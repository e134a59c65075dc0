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

void narrow_to_unit(const double* squared_norm, const double* x, float* y, Offset scalars,
                    const Stream& stream) {
  for_each_index(stream, scalars, [=] __device__(Offset i) {
    y[i] = static_cast<float>(heddle::detail::scale_to_unit(*squared_norm) * x[i]);
  });
}

void widen_from_unit(const double* squared_norm, const float* x, double* y, Offset scalars,
                     const Stream& stream) {
  for_each_index(stream, scalars, [=] __device__(Offset i) {
    y[i] = static_cast<double>(x[i]) / heddle::detail::scale_to_unit(*squared_norm);
  });
}

}  // namespace heddle::cuda
