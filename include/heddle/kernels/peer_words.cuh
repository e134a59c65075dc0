// Messages between kernels of several GPUs while they run: numbers, and notices that something is
// ready. Each word carries its round, so that none ever has to be reset.
#pragma once

#include "heddle/kernels/rank_arguments.hpp"

namespace heddle::device {

__device__ __forceinline__ void send_to_peer(PeerPacket* to, double value, unsigned round) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(static_cast<unsigned>(bits)), "r"(round),
                 "r"(static_cast<unsigned>(bits >> 32)), "r"(round)
               : "memory");
}
/// True if the packet belongs to `round`; `value` is then its number.
__device__ __forceinline__ bool look_at_packet(const PeerPacket* from, unsigned round,
                                               double& value) {
  PeerPacket packet;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packet.low), "=r"(packet.round_of_low), "=r"(packet.high),
                 "=r"(packet.round_of_high)
               : "l"(from)
               : "memory");
  value = __longlong_as_double(
      static_cast<long long>(static_cast<unsigned long long>(packet.high) << 32 | packet.low));
  return packet.round_of_low == round && packet.round_of_high == round;
}

/// Everything that this thread wrote before, and its block before a barrier, is visible to any
/// reader that sees the round.
__device__ __forceinline__ void announce_to_peer(unsigned* flag, unsigned round) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(flag), "r"(round) : "memory");
}
/// True for that round or a later one: rounds grow, and wrap around.
__device__ __forceinline__ bool is_announced(const unsigned* flag, unsigned round) {
  unsigned seen;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  return static_cast<int>(seen - round) >= 0;
}

/// Waits until it has arrived, or the host has given the run up: another GPU may then never get
/// that far.
template <class Arrived>
__device__ __forceinline__ void await_peer(const Arrived& has_arrived, const int* given_up) {
  constexpr unsigned looks = 1024;  // looks between those at the host's memory, which is far away
  for (unsigned k = 1; !has_arrived(); ++k) {
    if (k % looks == 0 && *static_cast<const volatile int*>(given_up) != 0) return;
  }
}

/// The round of a launch: the one after the last that ended. Read before `end_round`, by a thread
/// that the launch cannot end without.
__device__ __forceinline__ unsigned round_of_launch(const unsigned* last) {
  return *static_cast<const volatile unsigned*>(last) + 1;
}

}  // namespace heddle::device
