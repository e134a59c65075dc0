// A functor for every element, row or entry: one source for the threads of a CPU and those of a
// GPU.
//
// A GPU runs it if nvcc compiles the file that calls `for_each_on`, a .cu file, which serves the
// CPU too. From files that other compilers compile, a GPU runs functors whose header HEDDLE_KERNEL
// names; they are compiled when first called. Without HEDDLE_KERNEL the call is for the CPU alone.
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

/// A functor that is called with every number i, 0 <= i < `count`. Calls run concurrently and in no
/// order: each writes its own places. A functor that sums must do so in a fixed order, so that any
/// number of threads yields the same bits. It is copied to a GPU byte by byte, and refers to its
/// data by pointers into the device's memory.
///     struct Scale {
///       Offset count;
///       double factor;
///       double* x;
///       HEDDLE_INLINE void operator()(Offset i) const { x[i] *= factor; }
///     };
///     for_each_on(device, Scale{n, 0.5, x.data()});
/// A GPU runs it in blocks of 128 threads. A member `static constexpr int min_blocks` makes the
/// compiler limit registers so that a multiprocessor has room for that many blocks at once.
template <class P>
concept Pass = std::is_trivially_copyable_v<P> && std::integral<decltype(P::count)> &&
               requires(const P& pass, Offset i) { pass(i); };

#ifdef __CUDACC__

namespace detail {

template <class P>
__global__ void __launch_bounds__(threads_of_pass, min_blocks<P>()) run_pass(const P pass) {
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

/// Calls `pass(i)` for every i in [0, pass.count). On a CPU it runs on up to the stream's threads,
/// returns when all calls are done, and rethrows the first exception of a call. On a GPU it queues
/// one kernel and returns. Throws `Error` for a count below 0 (usage). On a GPU, from a file that
/// nvcc does not compile, it throws `Error` for a functor without HEDDLE_KERNEL (unsupported), and
/// for one whose header does not compile (usage, with its first error).
template <Pass P>
void for_each_on(const Stream& stream, const P& pass) {
  const auto count = static_cast<Offset>(pass.count);
  if (count < 0) {
    throw Error(ErrorKind::usage, "a pass cannot run over " + std::to_string(count) + " numbers");
  }
  if (!stream.on_gpu()) return parallel_for(team_size(stream, count), count, pass);
#ifdef __CUDACC__
  detail::queue_pass(stream, pass, count);
#else
  if constexpr (has_cuda && has_entry_text<P>) {
    cuda::queue_pass({detail::entry_text_of<P>::text(), &pass, sizeof(P)}, detail::min_blocks<P>(),
                     count, stream);
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

/// States the text of a user's functor, so that a GPU runs it from files of any compiler:
/// HEDDLE_KERNEL(my::Scale, "scale.hpp"), outside of any namespace and before the functor is first
/// used. Write the type as any file would name it, without a comma. The header, which CMake's
/// `heddle_embed_entry` or `register_entry_header` puts into the program, must include only headers
/// of heddle/entries/.
#define HEDDLE_KERNEL(Type, header) HEDDLE_ENTRY(Type, header)
