#include "heddle/cuda_call.hpp"
#include "textbook_kernels_cuda.hpp"

namespace heddle::bench {

namespace {

template <class T>
__global__ void compute_kernel(Coefficient which, TextbookScalars<T>* scalars) {
  textbook::compute(which, *scalars);
}

template <class T>
__global__ void invert_kernel(const real_of_t<T>* number, T* inverse) {
  auto* const parts = reinterpret_cast<real_of_t<T>*>(inverse);
  for (int k = 1; k < int(sizeof(T) / sizeof *parts); ++k) parts[k] = 0;
  parts[0] = textbook::quotient(real_of_t<T>(1), *number);
}

}  // namespace

template <class T>
void compute_on_gpu(Coefficient which, TextbookScalars<T>* scalars, const Stream& stream) {
  compute_kernel<<<1, 1, 0, stream.queue>>>(which, scalars);
  cuda::check(cudaGetLastError(), "the launch of a kernel for scalars");
}

template <class T>
void invert_on_gpu(const real_of_t<T>* number, T* inverse, const Stream& stream) {
  invert_kernel<T><<<1, 1, 0, stream.queue>>>(number, inverse);
  cuda::check(cudaGetLastError(), "the launch of a kernel for scalars");
}

#define HEDDLE_SCALARS_ON_GPU(T)                                                 \
  template void compute_on_gpu(Coefficient, TextbookScalars<T>*, const Stream&); \
  template void invert_on_gpu(const real_of_t<T>*, T*, const Stream&);
HEDDLE_SCALARS_ON_GPU(float)
HEDDLE_SCALARS_ON_GPU(double)
HEDDLE_SCALARS_ON_GPU(cuComplex)
HEDDLE_SCALARS_ON_GPU(cuDoubleComplex)
#undef HEDDLE_SCALARS_ON_GPU

}  // namespace heddle::bench
