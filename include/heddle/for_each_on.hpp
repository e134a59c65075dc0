// A functor for every element, row or entry: one text for the threads of a CPU and those of a GPU.
//
// A GPU runs it where nvcc compiles the file that calls `for_each_on`, a .cu: that file serves the
// CPU too. From files that other compilers compile it runs functors of which HEDDLE_KERNEL names
// the header, compiled when they are first called; without it the call is one for the CPU alone.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/detail/compiled_pass.hpp"
#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/entry_text.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#ifdef __CUDACC__
#include "heddle/cuda_call.hpp"
#endif

namespace heddle {

/// A functor that is called with every number from 0 to below its `count`. Calls run side by side
/// and in no order: each writes its own places. One that sums must do so in a fixed order, so that
/// every number of threads yields the same bits. It is copied to a GPU byte by byte, and refers to
/// its data by pointers into the device's memory.
///     struct Scale {
///       Offset count;
///       double factor;
///       double* x;
///       HEDDLE_INLINE void operator()(Offset i) const { x[i] *= factor; }
///     };
///     for_each_on(device, Scale{n, 0.5, x.data()});
/// A GPU runs it in blocks of 128 threads. With a `static constexpr int least_blocks` the compiler
/// spares registers, so that a multiprocessor has room for as many blocks at once.
template <class P>
concept Pass = std::is_trivially_copyable_v<P> && std::integral<decltype(P::count)> &&
               requires(const P& pass, Offset i) { pass(i); };

#ifdef __CUDACC__

namespace detail {

template <class P>
__global__ void __launch_bounds__(threads_of_pass, least_blocks<P>()) run_pass(const P pass) {
  const Offset i = Offset(blockIdx.x) * threads_of_pass + threadIdx.x;
  if (i < static_cast<Offset>(pass.count)) pass(i);
}

template <class P>
void queue_pass(const Stream& stream, const P& pass, Offset count) {
  if (count == 0) return;
  const unsigned blocks = blocks_of_pass(count);
  const cuda::OnGpu here(stream);
  run_pass<<<blocks, threads_of_pass, 0, stream.queue>>>(pass);
  cuda::check(cudaGetLastError(), "the launch of a pass");
}

}  // namespace detail

inline namespace with_kernels {  // a program may hold both functions, from files of both kinds
#else
inline namespace without_kernels {
#endif

/// Calls `pass(i)` for every i in [0, pass.count). On a CPU it returns when all is done, on up to
/// the stream's threads, and rethrows the first exception of a call. On a GPU it queues one kernel
/// and returns. Throws `Error` for a count below 0 (usage). From a file that nvcc does not compile
/// a GPU throws `Error` for a functor without HEDDLE_KERNEL (unsupported), and for one whose header
/// does not compile (usage, with the first error in that).
template <Pass P>
void for_each_on(const Stream& stream, const P& pass) {
  const auto count = static_cast<Offset>(pass.count);
  if (count < 0) {
    throw Error(ErrorKind::usage, "a pass over " + std::to_string(count) + " numbers");
  }
  if (!stream.on_gpu()) return parallel_for(team_size(stream, count), count, pass);
#ifdef __CUDACC__
  detail::queue_pass(stream, pass, count);
#else
  if constexpr (has_cuda && has_entry_text<P>) {
    cuda::queue_pass({detail::entry_text_of<P>::text(), &pass, sizeof(P)},
                     detail::least_blocks<P>(), count, stream);
  } else {
    throw Error(ErrorKind::unsupported,
                "this pass has no kernel: nvcc does not compile the file that calls `for_each_on`, "
                "and no HEDDLE_KERNEL names a header of the pass");
  }
#endif
}
template <Pass P>
void for_each_on(const Device& device, const P& pass) {
  for_each_on(device.stream(), pass);
}

}  // namespace

}  // namespace heddle

/// States the text of a functor of the user's, so that a GPU runs it from files of any compiler:
/// HEDDLE_KERNEL(my::Scale, "scale.hpp"), outside of any namespace and before the functor is first
/// used. The type as any file would name it, without a comma. The header, which CMake's
/// `heddle_embed_entry` or `register_entry_header` puts into the program, must include only headers
/// of heddle/entries/.
#define HEDDLE_KERNEL(Type, header) HEDDLE_ENTRY(Type, header)
