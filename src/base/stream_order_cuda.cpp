#include "stream_order_cuda.hpp"

#include <string>

#include "cuda_call.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

void check_gpu(CUstream_st* stream, int gpu) {
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;  // of the current GPU
  // A stream that is being captured does not tell.
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capture), "cudaStreamIsCapturing");
  if (capture != cudaStreamCaptureStatusNone) return;
  int own = gpu;
  check(cudaStreamGetDevice(stream, &own), "cudaStreamGetDevice");
  if (own == gpu) return;
  throw Error(ErrorKind::usage, "a stream of GPU " + std::to_string(own) + " meets work on GPU " +
                                    std::to_string(gpu));
}

class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  /// What waits for it goes on waiting.
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

void queue_behind(CUstream_st* later, CUstream_st* earlier, int gpu) {
  if (later == earlier) return;
  const OnGpu here({1, gpu, nullptr, nullptr});
  check_gpu(later, gpu);
  check_gpu(earlier, gpu);
  const Event event;
  check(cudaEventRecord(event, earlier), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
}

}  // namespace heddle::cuda
