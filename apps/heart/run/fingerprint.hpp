// One number that stands for many values and distinguishes them from others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace heddle::heart {

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
class Fingerprint {
 public:
  template <class T>
  void add(const T& value) {
    const auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211U;
  }
  void add_text(const std::string& text) {
    add(text.size());
    for (const char c : text) add(c);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace heddle::heart
