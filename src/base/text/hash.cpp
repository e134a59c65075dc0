#include "hash.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace heddle {

namespace {

// The odd constants are 2^64 divided by the golden ratio and by the square root of 2, and the two
// of MurmurHash3's finalizer.
void mix(Hash& h, std::uint64_t word) {
  h.low = (h.low ^ word) * 0x9e3779b97f4a7c15;
  h.low ^= h.low >> 32;
  h.high = (std::rotl(h.high, 23) + word) * 0xb504f333f9de6485;
  h.high ^= h.high >> 29;
}

std::uint64_t finish(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

}  // namespace

Hash hash(std::string_view bytes) {
  Hash h{0x243f6a8885a308d3, 0x13198a2e03707344};
  mix(h, bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    mix(h, word);
  }
  return {finish(h.low), finish(h.high)};
}

std::string to_string(const Hash& hash) {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return digits;
}

}  // namespace heddle
