#include "heddle/cuda_call.hpp"
#include "textbook_kernels_cuda.hpp"

namespace heddle::bench {

namespace {

template <class T>
__global__ void compute_kernel(Coefficient which, TextbookScalars<T>* scalars) {
  textbook::compute(which, *scalars);
}

}  // namespace

template <class T>
void compute_on_gpu(Coefficient which, TextbookScalars<T>* scalars, const Stream& stream) {
  compute_kernel<<<1, 1, 0, stream.queue>>>(which, scalars);
  cuda::check(cudaGetLastError(), "the launch of a kernel for scalars");
}

template void compute_on_gpu(Coefficient, TextbookScalars<float>*, const Stream&);
template void compute_on_gpu(Coefficient, TextbookScalars<double>*, const Stream&);
template void compute_on_gpu(Coefficient, TextbookScalars<cuComplex>*, const Stream&);
template void compute_on_gpu(Coefficient, TextbookScalars<cuDoubleComplex>*, const Stream&);

}  // namespace heddle::bench
