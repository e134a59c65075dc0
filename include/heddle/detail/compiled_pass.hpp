// Functors that a GPU's run-time compiler is given as text, and their bytes, where no nvcc has
// compiled the file that calls them.
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

inline constexpr int threads_of_pass = 128;  // a block: elements take many registers

/// Blocks of a pass over `count` numbers. Throws `Error` (unsupported) for more than a grid has.
inline unsigned blocks_of_pass(Offset count) {
  const Offset blocks = count == 0 ? 0 : (count - 1) / threads_of_pass + 1;
  if (blocks > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::unsupported,
                "a pass over " + std::to_string(count) + " numbers is too long for a GPU");
  }
  return static_cast<unsigned>(blocks);
}

/// Blocks that a multiprocessor has registers for at once, for a pass that names it.
template <class P>
constexpr int least_blocks() {
  if constexpr (requires { P::least_blocks; }) return P::least_blocks;
  return 1;
}

}  // namespace detail

namespace cuda {

/// A trivially copyable object of the host, whose type the text names.
struct HEDDLE_EXPORT CompiledFunctor {
  EntryText text;
  const void* object;
  std::size_t bytes;
};

/// Queues `pass(i)` for every i below `count`, compiled at the first call. Throws `Error` (usage)
/// with the first error in the user's header if that does not compile, or if the type is laid out
/// otherwise on the GPU; as `entry_header` where the text is not in the program.
HEDDLE_EXPORT void queue_pass(const CompiledFunctor& pass, int least_blocks, Offset count,
                              const Stream& stream);
/// The same for `detail::TileSums` in blocks with so many bytes of shared memory.
HEDDLE_EXPORT void queue_tiles(const CompiledFunctor& tile_sums, unsigned tiles,
                               std::size_t shared_bytes, const Stream& stream);

}  // namespace cuda

}  // namespace heddle
