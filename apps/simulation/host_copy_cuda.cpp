#include "host_copy.hpp"

#include "heddle/cuda_call.hpp"

namespace heddle::simulation::cuda {

using heddle::cuda::check;
using heddle::cuda::OnGpu;

double* allocate_pinned(std::size_t numbers, const Stream& stream) {
  const OnGpu here(stream);
  void* data = nullptr;
  check(cudaHostAlloc(&data, numbers * sizeof(double), cudaHostAllocDefault), "cudaHostAlloc");
  return static_cast<double*>(data);
}

void free_pinned(double* data) { cudaFreeHost(data); }

void copy_to_host(double* to, const double* from, std::size_t numbers, const Stream& stream) {
  const OnGpu here(stream);
  check(cudaMemcpyAsync(to, from, numbers * sizeof(double), cudaMemcpyDeviceToHost, stream.queue),
        "cudaMemcpyAsync");
}

CUevent_st* make_event(const Stream& stream) {
  const OnGpu here(stream);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
  return event;
}

void free_event(CUevent_st* event) { cudaEventDestroy(event); }

void record(CUevent_st* event, const Stream& stream) {
  const OnGpu here(stream);
  check(cudaEventRecord(event, stream.queue), "cudaEventRecord");
}

void wait_for(CUevent_st* event, const Stream& stream) {
  const OnGpu here(stream);
  check(cudaEventSynchronize(event), "cudaEventSynchronize");
}

}  // namespace heddle::simulation::cuda
