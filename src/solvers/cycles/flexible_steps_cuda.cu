#include "flexible_steps.hpp"

#include "base/cuda_call.hpp"

namespace heddle::cuda {

namespace {

template <class S>
__global__ void first(const double* sums, Coefficient<Ring::real, S>* number) {
  number->component[0] = static_cast<S>(-detail::first_step(sums));
}

template <class S>
__global__ void both(const double* sums, Coefficient<Ring::real, S>* numbers) {
  const detail::TwoSteps steps = detail::both_steps<S>(sums);
  numbers[0].component[0] = static_cast<S>(steps.c);
  numbers[1].component[0] = static_cast<S>(steps.d);
}

}  // namespace

template <class S>
void set_first_step(const double* sums, Coefficient<Ring::real, S>* number, const Stream& stream) {
  const OnGpu here(stream);
  first<S><<<1, 1, 0, stream.queue>>>(sums, number);
  check(cudaGetLastError(), "launch of a step of a K-cycle");
}

template <class S>
void set_both_steps(const double* sums, Coefficient<Ring::real, S>* numbers, const Stream& stream) {
  const OnGpu here(stream);
  both<S><<<1, 1, 0, stream.queue>>>(sums, numbers);
  check(cudaGetLastError(), "launch of a step of a K-cycle");
}

template void set_first_step(const double*, Coefficient<Ring::real, float>*, const Stream&);
template void set_first_step(const double*, Coefficient<Ring::real, double>*, const Stream&);
template void set_both_steps(const double*, Coefficient<Ring::real, float>*, const Stream&);
template void set_both_steps(const double*, Coefficient<Ring::real, double>*, const Stream&);

}  // namespace heddle::cuda
