// Tiles of a GPU's assembly (kernels/assembly_sums.hpp): their lists, and the launch of sums that
// nvcc compiles.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/detail/sliced.hpp"
#include "heddle/element_pattern.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/assembly_sums.hpp"
#ifdef __CUDACC__
#include "heddle/cuda_call.hpp"
#endif

namespace heddle::detail {

/// The lists of `AssemblyTiles` on the host.
struct HEDDLE_EXPORT AssemblyTileLists {
  unsigned terms = 0;
  std::vector<unsigned> first_piece, first_entry, piece, slot;
  std::vector<std::uint16_t> place, end;
};

/// For each corner (e, a), element after element: where its piece begins if the pieces of all
/// stored rows lie one after another.
HEDDLE_EXPORT std::vector<unsigned> row_places(const ElementPattern& pattern,
                                               const SlicedPattern& matrix);
/// `slots`: the slots of the pattern's entries. Empty if elements differ in their corners, or if a
/// row has more than `max_terms`.
HEDDLE_EXPORT AssemblyTileLists assembly_tiles(const ElementPattern& pattern,
                                               const SlicedPattern& matrix,
                                               const std::vector<Offset>& slots,
                                               const std::vector<unsigned>& row_places);

#ifdef __CUDACC__
template <class Sums>
__global__ void __launch_bounds__(AssemblyTiles::threads) run_tile(const TileSums<Sums> work) {
  sum_tile(work);
}

/// Queues one kernel.
template <class Sums>
void queue_tiles(const AssemblyTiles& tiles, const Sums& sums, const Stream& stream) {
  using Sum = typename Sums::Sum;
  static_assert(fits_in_tiles<Sum>);
  const cuda::OnGpu here(stream);
  run_tile<<<tiles.count, AssemblyTiles::threads, tiles.terms * sizeof(Sum), stream.queue>>>(
      TileSums<Sums>{tiles, sums});
  cuda::check(cudaGetLastError(), "the launch of an assembly");
}
#endif

}  // namespace heddle::detail
