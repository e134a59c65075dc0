// A hash of 128 bits: names of cached files, their checksums, fingerprints of patterns. Not for
// secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

struct Hash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Hash&) const = default;
};

/// Two independent mixes of eight bytes at a time. Each step is a bijection of the state for a
/// given word and of the word for a given state, so texts of one length that differ in one word
/// differ in their hash for certain.
Hash hash(std::string_view bytes);

/// 32 hexadecimal digits.
std::string to_string(const Hash& hash);

}  // namespace heddle
