#include "base/launch_cuda.cuh"
#include "encoding.hpp"
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
              "new values under an iteration-precision other than full cannot become part of a "
              "graph: pass them before its launch, or leave iteration-precision out of the plan");
}

detail::Narrowed narrow_values(const detail::Narrowing<double>& narrowing, Offset scalars,
                               const Device& device) {
  using Narrowing = detail::Narrowing<double>;
  check_not_captured(device.stream());
  const detail::Narrowed nothing;
  Array<detail::Narrowed> found(std::span<const detail::Narrowed>(&nothing, 1), device);
  const Stream& stream = device.stream();
  constexpr Offset of_thread = 8;
  const Offset threads = (scalars + of_thread - 1) / of_thread;
  for_each_index(stream, threads, [=, result = found.data()] __device__(Offset thread) {
    bool any_normal = false;
    for (Offset i = thread; i < scalars; i += threads) {
      const auto outcome = narrowing.narrow(i);
      any_normal = any_normal || outcome == Narrowing::normal;
      if (outcome == Narrowing::overflow) atomicMin(&result->first_overflow, i);
      if (outcome == Narrowing::underflow) atomicMin(&result->first_underflow, i);
    }
    // Most threads find it set, so that a read suffices.
    if (any_normal && !*static_cast<volatile bool*>(&result->any_normal)) result->any_normal = true;
  });
  detail::Narrowed result;
  heddle::detail::copy_bytes(&result, found.data(), sizeof result, stream);
  return result;
}

template <class T>
void encode_values(detail::Encoding<T> encoding, Offset slots, const Device& device) {
  check_not_captured(device.stream());
  const Stream& stream = device.stream();
  const Offset scalars = slots * encoding.rule.components;
  int largest = detail::Encoding<T>::no_exponent;
  Array<int> found(std::span<const int>(&largest, 1), device);
  for_each_index(stream, slots, [encoding, result = found.data()] __device__(Offset slot) {
    const int exponent = encoding.exponent(slot);
    // Most threads find a larger one, so that a read suffices.
    if (exponent > *static_cast<volatile int*>(result)) atomicMax(result, exponent);
  });
  heddle::detail::copy_bytes(&largest, found.data(), sizeof largest, stream);
  const auto scale = static_cast<CodeWord>(encoding.choose_scale(largest));
  heddle::detail::copy_bytes(encoding.to + scalars, &scale, sizeof scale, stream);
  for_each_index(stream, slots, [encoding] __device__(Offset slot) { encoding(slot); });
  device.synchronize();
}
template void encode_values(detail::Encoding<float>, Offset, const Device&);
template void encode_values(detail::Encoding<double>, Offset, const Device&);

}  // namespace heddle::cuda
