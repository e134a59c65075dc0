#include "base/launch_cuda.cuh"
#include "gpu_pattern.hpp"
#include "value_tiles.hpp"

namespace heddle::cuda {

namespace {

template <class Map>
void find_slots_of(const Map& map, Offset slots, Offset* slot_of_entry, const Stream& stream) {
  for_each_index(stream, slots, [=] __device__(Offset slot) {
    const auto entry = map[slot];
    if (entry != heddle::detail::GivenEntries<Map>::padding) slot_of_entry[entry] = slot;
  });
}

}  // namespace

void find_slots(const SlicedPattern& A, Offset* slot_of_entry, const Stream& stream) {
  heddle::detail::visit_map(A.entry_of_slot, [&](const auto& map) {
    find_slots_of(map, A.slots, slot_of_entry, stream);
  });
}

}  // namespace heddle::cuda
