#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

EntryMap::EntryMap(Offset entries, Offset slots, const Device& device) {
  const auto size = static_cast<std::size_t>(slots);
  constexpr int all_bits = 0xff;
  static_assert(padding == -1 && narrow_padding == ~0U, "all bits are set");
  if (bytes(entries, 1) == int{sizeof(unsigned)}) {
    narrow_ = Array<unsigned>(size, device, all_bits);
  } else {
    wide_ = Array<Offset>(size, device, all_bits);
  }
}

Array<Offset> slots_of_entries(const SlicedPattern& A) {
  const Device& device = A.offset.device();
  Array<Offset> slots(static_cast<std::size_t>(A.entries), device);
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      cuda::find_slots(A, slots.data(), device.stream());
      return slots;
    }
  }
  parallel_for(team_size(device.stream(), A.entries), A.slots, [&](Offset slot) {
    const Offset entry = A.entry_of_slot[slot];
    if (entry != EntryMap::padding) slots[static_cast<std::size_t>(entry)] = slot;
  });
  return slots;
}

}  // namespace heddle
