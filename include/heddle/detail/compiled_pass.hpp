// Functors that are given to a GPU's run-time compiler as text, and their bytes, for callers in
// files that nvcc has not compiled.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/entry_text.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

namespace detail {

inline constexpr int threads_of_pass = 128;  // in a block: elements take many registers

/// Blocks of a pass over `count` numbers. Throws `Error` (unsupported) if a grid cannot hold them.
inline unsigned blocks_of_pass(Offset count) {
  const Offset blocks = count == 0 ? 0 : (count - 1) / threads_of_pass + 1;
  if (blocks > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::unsupported,
                "a pass over " + std::to_string(count) + " numbers is too long for a GPU");
  }
  return static_cast<unsigned>(blocks);
}

/// Blocks for which a multiprocessor has registers at once; 1 unless the pass names another number.
template <class P>
constexpr int min_blocks() {
  if constexpr (requires { P::min_blocks; }) return P::min_blocks;
  return 1;
}

}  // namespace detail

namespace cuda {

/// A trivially copyable object on the host, whose type the text names.
struct HEDDLE_EXPORT CompiledFunctor {
  EntryText text;
  const void* object;
  std::size_t bytes;
};

/// Queues `pass(i)` for every i below `count`, compiled at the first call. Throws `Error` (usage)
/// with the first error in the user's header if that does not compile, or if the type has another
/// layout on the GPU; throws like `entry_header` if the text is not in the program.
HEDDLE_EXPORT void queue_pass(const CompiledFunctor& pass, int min_blocks, Offset count,
                              const Stream& stream);
/// Same for `detail::TileSums`, in blocks with `shared_bytes` of shared memory.
HEDDLE_EXPORT void queue_tiles(const CompiledFunctor& tile_sums, unsigned tiles,
                               std::size_t shared_bytes, const Stream& stream);

}  // namespace cuda

}  // namespace heddle
