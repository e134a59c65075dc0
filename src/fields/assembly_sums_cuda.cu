#include <algorithm>

#include "assembly_sums.hpp"
#include "base/launch_cuda.cuh"

namespace heddle::cuda {

using heddle::detail::EntrySums, heddle::detail::Placing, heddle::detail::VectorSums;

/// The threads of a block take the components of as many entries as they suffice for. Adjacent
/// threads read and write the components of an entry that lie together.
template <class Sums>
void sum(const Sums& sums, Offset count, const Stream& stream) {
  const int K = sums.numbering.components;
  const int threads = std::min(K, block_size);  // threads of an entry
  const int entries = block_size / threads;     // entries of a block
  for_each_thread(stream, (count + entries - 1) / entries,
                  [=] __device__(Offset block, unsigned thread) {
                    const auto own = static_cast<int>(thread) / threads;
                    const Offset i = block * entries + own;
                    if (own >= entries || i >= count) return;
                    for (int k = static_cast<int>(thread) - own * threads; k < K; k += threads)
                      sums(i, k);
                  });
}
template <class Sums>
void sum_tiles(const Sums& sums, const Stream& stream) {
  heddle::detail::queue_tiles(sums.lists.tiles, sums, stream);
}

#define HEDDLE_ASSEMBLY_SUMS(S)                                                         \
  template void sum(const VectorSums<S>&, Offset, const Stream&);                       \
  template void sum(const EntrySums<S, Placing::by_code>&, Offset, const Stream&);      \
  template void sum(const EntrySums<S, Placing::by_numbering>&, Offset, const Stream&); \
  template void sum_tiles(const EntrySums<S, Placing::by_code>&, const Stream&);        \
  template void sum_tiles(const EntrySums<S, Placing::by_row>&, const Stream&);         \
  template void sum_tiles(const EntrySums<S, Placing::by_numbering>&, const Stream&);
HEDDLE_ASSEMBLY_SUMS(float)
HEDDLE_ASSEMBLY_SUMS(double)
#undef HEDDLE_ASSEMBLY_SUMS

}  // namespace heddle::cuda
