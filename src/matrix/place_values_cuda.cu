#include <algorithm>
#include <cstdint>
#include <string>

#include "../base/device_cuda.hpp"
#include "../base/launch_cuda.cuh"
#include "../base/range.hpp"
#include "heddle/error.hpp"
#include "heddle/place_values.hpp"

namespace heddle {

namespace {

/// Division of n by a number, exact while n * number < 2^32.
struct Divisor {
  unsigned long long reciprocal;

  explicit Divisor(unsigned number) : reciprocal((1ULL << 32) / number + 1) {}
  HEDDLE_INLINE unsigned divide(unsigned n) const {
    return static_cast<unsigned>(n * reciprocal >> 32);
  }
};

/// Everything that is moved alike: units of some scalars, K of them an entry.
struct Placement {
  SlotRule rule;  // counted in units
  bool by_lanes;  // AoSoA: the place depends on the lane; else on the slot alone
  Divisor by_components;
  // Of blocks that come stored by columns; 1 otherwise.
  int block_rows, block_columns, units_of_element;
  const unsigned* narrow;
  const Offset* wide;

  __device__ Offset slot_of_entry(Offset entry) const {
    return narrow != nullptr ? narrow[entry] : wide != nullptr ? wide[entry] : entry;
  }
  /// The rule for a piece that the compiler knows.
  template <int piece>
  __device__ Offset place_in_piece(Offset step, int lane, int k) const {
    SlotRule known = rule;
    known.piece = piece;
    return step * known.step_scale() + Offset(lane) * known.lane_scale(k) + known.base(k);
  }
  __device__ Offset place(Offset slot, int k) const {
    if (block_rows > 1) k = transposed_component(k, block_columns, block_rows, units_of_element);
    if (rule.planes) return slot + k * rule.slots;
    if (!by_lanes) return slot * rule.components + k;
    const auto C = static_cast<unsigned>(rule.C);
    // Slots of 32 bits and widths that are powers of two need no long division.
    const auto lane = static_cast<int>((C & (C - 1)) == 0  ? slot & (C - 1)
                                       : narrow != nullptr ? static_cast<unsigned>(slot) % C
                                                           : slot % C);
    if (rule.piece == 1) return place_in_piece<1>(slot - lane, lane, k);
    if (rule.piece == 2) return place_in_piece<2>(slot - lane, lane, k);
    return place_in_piece<4>(slot - lane, lane, k);
  }
};

/// Entries [first, first + count), whose values begin at `from`. Threads read unit after unit, and
/// have several on the way.
template <class Unit>
void place_units(const Placement& placement, Offset first, Offset count, const void* from, void* to,
                 const Stream& stream) {
  constexpr unsigned on_the_way = 4;
  constexpr unsigned units_of_block = cuda::block_size * on_the_way;
  const auto K = static_cast<unsigned>(placement.rule.components);
  const Offset entries_of_block = std::max(1u, units_of_block / K);
  const Offset blocks = (count + entries_of_block - 1) / entries_of_block;
  cuda::for_each_thread(
      stream, blocks,
      [=, from = static_cast<const Unit*>(from), to = static_cast<Unit*>(to)] __device__(
          Offset block, unsigned thread) {
        const Offset begin = block * entries_of_block;
        const Offset left = count - begin;
        const auto units =
            static_cast<unsigned>(left < entries_of_block ? left : entries_of_block) * K;
        for (unsigned next = thread; next < units; next += units_of_block) {
          // All loads before the first use of one: a thread waits in the order of its instructions.
          Unit value[on_the_way];
          Offset slot[on_the_way];
#pragma unroll
          for (unsigned u = 0; u < on_the_way; ++u) {
            const unsigned n = next + u * cuda::block_size;
            if (n >= units) continue;
            value[u] = from[begin * K + n];
            slot[u] = placement.slot_of_entry(first + begin + placement.by_components.divide(n));
          }
#pragma unroll
          for (unsigned u = 0; u < on_the_way; ++u) {
            const unsigned n = next + u * cuda::block_size;
            if (n >= units) continue;
            const unsigned k = n - placement.by_components.divide(n) * K;
            to[placement.place(slot[u], static_cast<int>(k))] = value[u];
          }
        }
      });
}

bool is_aligned(const void* data, int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0;
}

/// The most scalars that can move as one: neighbours in both arrays.
int scalars_of_unit(const SlotRule& rule, const EntryShape& shape, const void* from,
                    const void* to) {
  int scalars = 16 / shape.scalar_bytes;
  const int together = shape.block_rows > 1 ? shape.scalars_of_element() : shape.components;
  while (scalars > 1 && (rule.planes || together % scalars != 0 || rule.piece % scalars != 0 ||
                         !is_aligned(from, scalars * shape.scalar_bytes) ||
                         !is_aligned(to, scalars * shape.scalar_bytes))) {
    scalars /= 2;
  }
  return scalars;
}

void place_from_gpu(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                    Offset first, Offset count, const void* from, void* to, const Stream& stream) {
  const int K = shape.components;
  SlotRule rule = slot_rule(inner, K, pattern.C, pattern.slots, shape.scalar_bytes);
  const bool by_lanes = !rule.planes && rule.piece < K && rule.C > 1;
  if (!rule.planes && !by_lanes) rule.piece = K;  // AoS, or the same as that
  const int scalars = scalars_of_unit(rule, shape, from, to);
  rule.components /= scalars;
  rule.piece = std::max(1, rule.piece / scalars);
  const Placement placement{rule,
                            by_lanes,
                            Divisor(static_cast<unsigned>(rule.components)),
                            shape.block_rows,
                            shape.block_columns,
                            std::max(1, shape.scalars_of_element() / scalars),
                            pattern.slot_of_entry.narrow(),
                            pattern.slot_of_entry.wide()};
  switch (scalars * shape.scalar_bytes) {
    case 16:
      return place_units<uint4>(placement, first, count, from, to, stream);
    case 8:
      return place_units<unsigned long long>(placement, first, count, from, to, stream);
    default:
      return place_units<unsigned>(placement, first, count, from, to, stream);
  }
}

/// For all entries or as many as 64 MiB hold; for fewer where memory is short.
Array<unsigned char> staging_buffer(Offset entries, Offset entry_bytes, const Device& device) {
  constexpr Offset most_bytes = Offset(64) << 20, least_bytes = Offset(1) << 20;
  Offset count = std::clamp(most_bytes / entry_bytes, Offset(1), entries);
  for (;;) {
    try {
      return Array<unsigned char>(static_cast<std::size_t>(count * entry_bytes), device);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory || count * entry_bytes < 2 * least_bytes) throw;
      count /= 2;
    }
  }
}

}  // namespace

void place_values_on_gpu(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                         const void* from, void* to, const Stream& stream) {
  if ((shape.scalar_bytes != 4 && shape.scalar_bytes != 8) || shape.components > 65535) {
    throw Error(ErrorKind::unsupported,
                "values of " + std::to_string(shape.components) + " scalars of " +
                    std::to_string(shape.scalar_bytes) +
                    " bytes cannot be placed on a GPU; scalars have 4 or 8 bytes, entries at most "
                    "65535 of them");
  }
  if (pattern.entries == 0) return;
  const Range range("update values");
  if (cuda::is_device_memory(from, stream)) {
    return place_from_gpu(pattern, inner, shape, 0, pattern.entries, from, to, stream);
  }
  const Offset entry_bytes = Offset(shape.components) * shape.scalar_bytes;
  Array<unsigned char> buffer = staging_buffer(
      pattern.entries, entry_bytes, Device::cuda(stream.gpu, stream.queue, stream.memory));
  const Offset at_a_time = static_cast<Offset>(buffer.size()) / entry_bytes;
  for (Offset first = 0; first < pattern.entries; first += at_a_time) {
    const Offset count = std::min(at_a_time, pattern.entries - first);
    detail::copy_bytes(buffer.data(), static_cast<const char*>(from) + first * entry_bytes,
                       static_cast<std::size_t>(count * entry_bytes), stream);
    place_from_gpu(pattern, inner, shape, first, count, buffer.data(), to, stream);
  }
  cuda::synchronize(stream);  // before the buffer goes back
}

}  // namespace heddle
