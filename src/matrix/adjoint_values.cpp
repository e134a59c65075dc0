#include "adjoint_values.hpp"

#include <string>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

template <class T>
void place_adjoint_of(const SlicedPattern& A, const T* from, const SlicedPattern& adjoint, T* to,
                      const AdjointMap& map, InnerLayout inner, const Stream& stream) {
  const auto K = static_cast<int>(map.component.size());
  const AdjointPlaces<T> places{from,
                                to,
                                slot_rule(inner, K, A.C, A.slots, sizeof(T)),
                                slot_rule(inner, K, adjoint.C, adjoint.slots, sizeof(T)),
                                map.slot.data(),
                                map.component.data()};
  if constexpr (has_cuda && !std::is_same_v<T, long double>) {
    if (stream.on_gpu()) {
      return cuda::place_adjoint(adjoint.entry_of_slot, adjoint.slots, places, stream);
    }
  }
  const int team = team_size(stream, adjoint.entries * K);
  // If entries lie whole, there is nothing to divide.
  if (keeps_entries_whole(places.from_rule) && keeps_entries_whole(places.to_rule)) {
    return parallel_for(team, adjoint.slots, [&](Offset slot) {
      const Offset entry = adjoint.entry_of_slot[slot];
      if (entry == EntryMap::padding) return;
      const T* const taken = from + places.source[entry] * K;
      T* const put = to + slot * K;
      for (int k = 0; k < K; ++k) {
        const int of = places.component[k];
        put[k] = of < 0 ? -taken[-of - 1] : taken[of - 1];
      }
    });
  }
  parallel_for(team, adjoint.slots, [&](Offset slot) {
    const Offset entry = adjoint.entry_of_slot[slot];
    if (entry != EntryMap::padding) places.place(slot, entry);
  });
}

}  // namespace

void place_adjoint_values(const SlicedPattern& A, std::span<const std::byte> values,
                          const SlicedPattern& adjoint, std::span<std::byte> to,
                          const AdjointMap& map, InnerLayout inner, int scalar_bytes,
                          const Stream& stream) {
  const auto place = [&]<class T>(T /*one*/) {
    place_adjoint_of(A, reinterpret_cast<const T*>(values.data()), adjoint,
                     reinterpret_cast<T*>(to.data()), map, inner, stream);
  };
  switch (scalar_bytes) {
    case sizeof(float):
      return place(0.0F);
    case sizeof(double):
      return place(0.0);
    case sizeof(long double):
      return place(0.0L);
    default:
      throw Error(
          ErrorKind::unsupported,
          "no adjoint of scalars of " + std::to_string(scalar_bytes) + " bytes, only of 4 and 8");
  }
}

}  // namespace heddle::detail
