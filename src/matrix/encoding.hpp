// Encoding of a matrix's entries in words of 16 bits (entries/encoded.hpp), shared by the CPU and a
// GPU's kernel.
#pragma once

#include <cmath>

#include "heddle/detail/sliced.hpp"
#include "heddle/entries/encoded.hpp"

namespace heddle::detail {

/// floor(log2 m) of m > 0; -1022 below the normal numbers, 1024 if m is not finite.
HEDDLE_INLINE int exponent_of(double m) {
#if defined(__CUDA_ARCH__)
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(m));
#else
  unsigned long long bits;
  __builtin_memcpy(&bits, &m, sizeof bits);
#endif
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  return (field > 1 ? field : 1) - 1023;
}

/// 2^n, if that is a normal number.
HEDDLE_INLINE double power_of_two(int n) {
  return double_of_bits(static_cast<unsigned long long>(n + 1023) << 52);
}

/// The nearest word of the format, ties to even; beyond the range, the largest finite word.
template <class Format>
HEDDLE_INLINE CodeWord rounded_word(double value) {
  constexpr int bias = 1 - Format::min_exponent;
  constexpr int infinity = (2 * bias + 1) << Format::bits;
  const double m = std::fabs(value);
  if (!(m < 1e300)) return CodeWord(infinity - 1);  // if the matrix's scale is not a number
  int e = m > 0 ? exponent_of(m) : Format::min_exponent;
  if (e < Format::min_exponent) e = Format::min_exponent;
  // A carry runs into the exponent; a number below the normal ones has no exponent.
  const double significand = ::rint(m * power_of_two(Format::bits - e));
  long long word =
      (static_cast<long long>(e + bias - 1) << Format::bits) + static_cast<long long>(significand);
  if (word >= infinity) word = infinity - 1;
  return static_cast<CodeWord>(static_cast<unsigned>(word) | (std::signbit(value) ? 0x8000u : 0u));
}

/// Calls `put(k, component)` for the K words `word(k)`, like `encoded` for a K of run time.
template <class Words, class Put>
HEDDLE_INLINE void decode_entry(StoredScalar kept, int K, const Words& word, const Put& put) {
  if (kept == StoredScalar::half) {
    for (int k = 0; k < K; ++k) put(k, half_code::decode(word(k)));
  } else if (kept == StoredScalar::bfloat || K == 1) {
    for (int k = 0; k < K; ++k) put(k, bfloat_code::decode(word(k)));
  } else {
    const int b = scaled_code::bits_of_exponent(K);
    const unsigned mask = (1u << b) - 1;
    unsigned field = 0;
    for (int k = 0; k * b < scaled_code::exponent_bits; ++k) field |= (word(k) & mask) << (k * b);
    const float unit = scaled_code::unit(field);
    for (int k = 0; k < K; ++k) put(k, scaled_code::integer(word(k), mask) * unit);
  }
}

/// Encodes the entry on a slot.
template <class T>
struct Encoding {
  StoredScalar kept;
  SlotRule rule;       // rule of the words
  SlotRule wide_rule;  // rule of the values
  const T* from;
  CodeWord* to;
  const unsigned* narrow_map;  // see `EntryMap`; both null if no slot is padding
  const Offset* wide_map;
  double factor = 1;  // 2^-s

  HEDDLE_INLINE bool is_padding(Offset slot) const {
    if (narrow_map != nullptr) return narrow_map[slot] == ~0u;
    return wide_map != nullptr && wide_map[slot] == EntryMap::padding;
  }

  HEDDLE_INLINE void operator()(Offset slot) const {
    const int lane = static_cast<int>(slot % rule.C), K = rule.components;
    const Offset step = slot - lane;
    const auto value = [&](int k) {
      return static_cast<double>(from[wide_rule(step, lane, k)]) * factor;
    };
    if (kept == StoredScalar::half) {
      for (int k = 0; k < K; ++k) to[rule(step, lane, k)] = rounded_word<half_code>(value(k));
    } else if (kept == StoredScalar::bfloat || K == 1) {
      for (int k = 0; k < K; ++k) to[rule(step, lane, k)] = rounded_word<bfloat_code>(value(k));
    } else {
      double most = 0;
      for (int k = 0; k < K; ++k) most = std::fmax(most, std::fabs(value(k)));
      const int b = scaled_code::bits_of_exponent(K);
      int field = 0;
      double per_unit = 0;
      if (most > 0 && most < 1e300) {
        // Integers of 15 bits and a sign, whose lowest b bits are the exponent's.
        int unit = exponent_of(most) - 14;
        if (unit < -126) unit = -126;
        if (::rint(most * power_of_two(-unit - b)) >= power_of_two(15 - b)) ++unit;
        field = unit + 127;
        per_unit = power_of_two(-unit - b);
      }
      for (int k = 0; k < K; ++k) {
        // A component that is not a number becomes 0; so do all of an entry without a unit.
        const double units = value(k) * per_unit;
        const int integer = std::fabs(units) < 65536 ? static_cast<int>(::rint(units)) : 0;
        const unsigned of_exponent =
            k * b < scaled_code::exponent_bits ? (unsigned(field) >> (k * b)) & ((1u << b) - 1) : 0;
        to[rule(step, lane, k)] =
            static_cast<CodeWord>((static_cast<unsigned>(integer) << b & 0xffffu) | of_exponent);
      }
    }
  }

  /// The largest exponent of the entry's components, unless the slot is padding. The largest of all
  /// slots chooses the scale.
  HEDDLE_INLINE int exponent(Offset slot) const {
    int largest = no_exponent;
    if (is_padding(slot)) return largest;
    const int lane = static_cast<int>(slot % rule.C);
    for (int k = 0; k < rule.components; ++k) {
      const double m = std::fabs(static_cast<double>(from[wide_rule(slot - lane, lane, k)]));
      const int exponent = m == 0 ? no_exponent : exponent_of(m);
      if (exponent > largest) largest = exponent;
    }
    return largest;
  }
  static constexpr int no_exponent = -2000;  // exponent of zero

  /// Sets the factor for values of exponents up to `largest`, and returns s.
  int choose_scale(int largest) {
    constexpr int not_finite = 1024, target = 14;
    if (largest == no_exponent) return 0;
    if (largest >= not_finite) return scale_of_no_number;
    const int least = sizeof(T) == sizeof(float) ? -126 : -1000;
    const int s = largest - target < least ? least : largest - target;
    factor = power_of_two(-s);
    return s;
  }
};

template <class T>
Encoding<T> encoding(const SlicedPattern& pattern, InnerLayout inner, int K, StoredScalar kept,
                     const T* from, CodeWord* to) {
  return {kept,
          slot_rule(inner, K, pattern.C, pattern.slots, sizeof(CodeWord)),
          slot_rule(inner, K, pattern.C, pattern.slots, sizeof(T)),
          from,
          to,
          pattern.entry_of_slot.narrow(),
          pattern.entry_of_slot.wide()};
}

}  // namespace heddle::detail

namespace heddle::cuda {

template <class T>
void encode_values(detail::Encoding<T> encoding, Offset slots, const Device& device);

}  // namespace heddle::cuda
