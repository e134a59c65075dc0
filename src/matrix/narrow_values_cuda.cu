#include "base/launch_cuda.cuh"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "narrowing.hpp"

namespace heddle::cuda {

void check_not_captured(const Stream& stream) {
  const OnGpu here(stream);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream.queue, &status), "cudaStreamIsCapturing");
  if (status == cudaStreamCaptureStatusNone) return;
  throw Error(ErrorKind::unsupported,
              "new values under iteration-precision=single cannot become part of a graph: take "
              "them before its launch, or leave it out of the plan");
}

detail::Narrowed narrow_values(const detail::Narrowing<double>& narrowing, Offset scalars,
                               const Device& device) {
  using Narrowing = detail::Narrowing<double>;
  check_not_captured(device.stream());
  const detail::Narrowed nothing;
  Array<detail::Narrowed> found(std::span<const detail::Narrowed>(&nothing, 1), device);
  const Stream& stream = device.stream();
  for_each_index(stream, scalars, [narrowing, result = found.data()] __device__(Offset i) {
    const auto outcome = narrowing.narrow(i);
    if (outcome == Narrowing::normal) {
      // Most find it set, so that it stays a read.
      if (!*static_cast<volatile bool*>(&result->any_normal)) result->any_normal = true;
    } else if (outcome != Narrowing::not_normal) {
      Offset& first =
          outcome == Narrowing::overflow ? result->first_overflow : result->first_underflow;
      atomicMin(&first, i);
    }
  });
  detail::Narrowed result;
  heddle::detail::copy_bytes(&result, found.data(), sizeof result, stream);
  return result;
}

}  // namespace heddle::cuda
