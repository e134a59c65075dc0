#include "adjoint_values.hpp"
#include "base/launch_cuda.cuh"
#include "value_tiles.hpp"

namespace heddle::cuda {

namespace {

template <class T, class Map>
void place_adjoint_by(const Map& map, Offset slots, const heddle::detail::AdjointPlaces<T>& places,
                      const Stream& stream) {
  for_each_index(stream, slots, [=] __device__(Offset slot) {
    const auto entry = map[slot];
    if (entry != heddle::detail::GivenEntries<Map>::padding) {
      places.place(slot, static_cast<Offset>(entry));
    }
  });
}

}  // namespace

template <class T>
void place_adjoint(const EntryMap& entries, Offset slots,
                   const heddle::detail::AdjointPlaces<T>& places, const Stream& stream) {
  heddle::detail::visit_map(entries,
                            [&](const auto& map) { place_adjoint_by(map, slots, places, stream); });
}
template void place_adjoint(const EntryMap&, Offset, const heddle::detail::AdjointPlaces<float>&,
                            const Stream&);
template void place_adjoint(const EntryMap&, Offset, const heddle::detail::AdjointPlaces<double>&,
                            const Stream&);

}  // namespace heddle::cuda
