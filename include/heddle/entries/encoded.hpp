// An entry kept in 16 bits a component and decoded in registers while it is read: a quarter of a
// double matrix's memory traffic. docs/guide/encodings.md has pictures and bounds.
//
// Words hold the entries divided by 2^s, one power of two for the whole matrix, which brings its
// largest component to [2^14, 2^15). A product multiplies the sums of its rows by 2^s, exactly; s
// is the word after the last slot.
//
// Two more encodings keep the entries themselves in fewer bytes, `dictionary_code` and `unit_code`.
// A table of values follows their last slot.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

using CodeWord = unsigned short;

HEDDLE_INLINE float float_of_bits(unsigned bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}
HEDDLE_INLINE double double_of_bits(unsigned long long bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

// a b + c, rounded once.
#if defined(__CUDA_ARCH__)
HEDDLE_INLINE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
HEDDLE_INLINE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#else
HEDDLE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
HEDDLE_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
#define HEDDLE_HAS_WORD_LANES 1
namespace detail {

/// Four words at once in the host's vector registers, see lanes.hpp.
struct WordLanes {
  using Words __attribute__((vector_size(8))) = CodeWord;
  using Bits __attribute__((vector_size(16))) = unsigned;
  using Integers __attribute__((vector_size(16))) = int;
  using Floats __attribute__((vector_size(16))) = float;

  unsigned long long raw;

  HEDDLE_INLINE explicit WordLanes(const CodeWord* from) {
    __builtin_memcpy(&raw, from, sizeof raw);
  }
  HEDDLE_INLINE Bits bits() const {
    Words words;
    __builtin_memcpy(&words, &raw, sizeof words);
    return __builtin_convertvector(words, Bits);
  }
  template <class S>
  HEDDLE_INLINE static void store(const Floats& floats, S* to) {
    for (int k = 0; k < 4; ++k) to[k] = static_cast<S>(floats[k]);
  }
};

}  // namespace detail
#endif

/// A sign, exponent and significand in 16 bits, with IEEE's gradual underflow. No word of a copy
/// holds an infinity: a matrix with one has a scale that is not a number.
template <int significand_bits, int bias>
struct ShortFloat {
  static constexpr int bits = significand_bits;  // after the point
  static constexpr int min_exponent = 1 - bias;

  HEDDLE_INLINE static float decode(CodeWord word) {
    // Read as a float's, the exponent is too small by 127 - bias, also where it is 0.
    const unsigned value = static_cast<unsigned>(word);
    const float small =
        float_of_bits((value & 0x8000u) << 16 | (value & 0x7fffu) << (23 - significand_bits));
    return bias == 127 ? small : small * float_of_bits(unsigned(254 - bias) << 23);
  }

  template <int K, class S>
  HEDDLE_INLINE static void decode_all(const CodeWord (&word)[K], S (&to)[K]) {
    int k = 0;
#if defined(HEDDLE_HAS_WORD_LANES)
    using Lanes = detail::WordLanes;
    for (; k + 4 <= K; k += 4) {
      const Lanes::Bits bits = Lanes(word + k).bits();
      const Lanes::Bits value = (bits & 0x8000u) << 16 | (bits & 0x7fffu)
                                                             << (23 - significand_bits);
      Lanes::Floats floats;
      __builtin_memcpy(&floats, &value, sizeof floats);
      if (bias != 127) floats *= float_of_bits(unsigned(254 - bias) << 23);
      Lanes::store(floats, to + k);
    }
#endif
    for (; k < K; ++k) to[k] = static_cast<S>(decode(word[k]));
  }
};

/// IEEE half precision: 11 bits of each component, down to 2^-29 of the matrix's largest.
struct half_code : ShortFloat<10, 15> {};

/// The upper half of a float: 8 bits of each component, over a float's range.
struct bfloat_code : ShortFloat<7, 127> {};

/// Integers with one power of two for all components of an entry, whose 8 bits are distributed over
/// the lowest bits of the words: ceil(8 / K) of each. One component alone is a bfloat.
struct scaled_code {
  static constexpr int exponent_bits = 8;

  /// Exponent bits in a word of an entry of K components.
  HEDDLE_HD static constexpr int bits_of_exponent(int K) { return (exponent_bits + K - 1) / K; }

  /// 2^u from the bits of a float's exponent field.
  HEDDLE_INLINE static float unit(unsigned field) { return float_of_bits(field << 23); }
  HEDDLE_INLINE static float integer(CodeWord word, unsigned mask) {
    return static_cast<float>(static_cast<int>(static_cast<short>(word & ~mask)));
  }

  /// The exponent field of the entry, b bits from each word.
  template <int b, int K>
  HEDDLE_INLINE static unsigned exponent_of(const CodeWord (&word)[K]) {
    constexpr unsigned mask = (1u << b) - 1;
    unsigned field = 0;
    int k = 0;
#if defined(HEDDLE_HAS_WORD_LANES)
    constexpr unsigned long long of_each = mask * 0x0001000100010001ull;
    for (; k + 4 <= K && k * b < exponent_bits; k += 4) {
      const unsigned long long bits = detail::WordLanes(word + k).raw & of_each;
      const unsigned long long near = bits | bits >> (16 - b);
      field |= static_cast<unsigned>((near | near >> (32 - 2 * b)) & ((1u << 4 * b) - 1))
               << (k * b);
    }
#endif
    for (; k < K && k * b < exponent_bits; ++k) field |= (word[k] & mask) << (k * b);
    return field;
  }

  template <int K, class S>
  HEDDLE_INLINE static void decode_all(const CodeWord (&word)[K], S (&to)[K]) {
    if constexpr (K == 1) {
      bfloat_code::decode_all(word, to);
    } else {
      constexpr int b = bits_of_exponent(K);
      constexpr unsigned mask = (1u << b) - 1;
      const float of_entry = unit(exponent_of<b>(word));
      int k = 0;
#if defined(HEDDLE_HAS_WORD_LANES)
      using Lanes = detail::WordLanes;
      for (; k + 4 <= K; k += 4) {
        const Lanes::Bits upper = Lanes(word + k).bits() << 16;
        Lanes::Integers integers;
        __builtin_memcpy(&integers, &upper, sizeof integers);
        integers = integers >> 16 & ~static_cast<int>(mask);
        Lanes::store(__builtin_convertvector(integers, Lanes::Floats) * of_entry, to + k);
      }
#endif
      for (; k < K; ++k) to[k] = static_cast<S>(integer(word[k], mask) * of_entry);
    }
  }
};

/// `encoded<half_code, quaternion<double>>` holds four words and acts as a quaternion<double>,
/// except for the scale of the matrix.
template <class Code, class A>
struct HEDDLE_EXPORT encoded {
  using stored_scalar = CodeWord;
  using arithmetic = A;
  using code = Code;
  static constexpr int components = A::components;

  CodeWord component[components];

  HEDDLE_INLINE A load() const {
    A a;
    Code::decode_all(component, a.component);
    return a;
  }
};

/// Entries with at most 256 different values: the number of the value in a table.
struct dictionary_code {
  static constexpr int max_values = 256;
};

template <class A>
struct HEDDLE_EXPORT encoded<dictionary_code, A> {
  using stored_scalar = unsigned char;
  using arithmetic = A;
  using code = dictionary_code;
  static constexpr int components = 1;
  static constexpr int table_bytes = dictionary_code::max_values * int(sizeof(A));

  stored_scalar component[components];

  HEDDLE_INLINE A load(const stored_scalar* table) const {
    // Pieces as wide as the values are aligned.
    constexpr int align = sizeof(A) % 16 == 0 ? 16 : sizeof(A) % 8 == 0 ? 8 : 4;
    const int at = int(component[0]) * int(sizeof(A));
    const void* const from = __builtin_assume_aligned(table + at, align);
    A a;
#if defined(__CUDA_ARCH__)
    memcpy(&a, from, sizeof a);
#else
    __builtin_memcpy(&a, from, sizeof a);
#endif
    return a;
  }
};

/// 1/d for 1 <= d <= 2, rounded as a division rounds it, from an estimate that is off by at most
/// 2^-18: a step of third order and one that rounds (Markstein 1990). The one exception is the
/// number before 2, for which it is 1/2, one ulp less. A GPU's own division takes branches.
HEDDLE_INLINE double reciprocal_from(double d, double estimate) {
  const double error = fused(-d, estimate, 1.0);
  const double near = fused(estimate, fused(error, error, error), estimate);
  return fused(near, fused(-d, near, 1.0), near);
}
/// Same from an estimate that is off by an ulp.
HEDDLE_INLINE float reciprocal_from(float d, float estimate) {
  return fused(estimate, fused(-d, estimate, 1.0f), estimate);
}

/// Quaternions +-r u with |u| = 1 and Re u >= 0, where r is one of 16 nonnegative reals: the point
/// t = 2 Im u / (1 + Re u) in which the line from -1 through u meets the plane of real part 1
/// (stereographic projection). With d = 1 + |t|^2 / 4, q = +-r / d (2 - d, t). The number of r is
/// in the two lowest bits of t1 and of t2, which are thereby off by at most 2 ulp, and the sign is
/// the lowest bit of t3. Number 0 is r = 1.
struct unit_code {
  static constexpr int max_values = 16;
  /// Bits that component k of t gives up.
  HEDDLE_HD static constexpr int bits_of(int k) { return k < 2 ? 2 : 1; }

  /// Computes q from t, d and +-r / d.
  template <class S>
  HEDDLE_INLINE static void restore(const S* t, S d, S factor, S* q) {
    q[0] = (2 - d) * factor;
    for (int k = 0; k < 3; ++k) q[k + 1] = t[k] * factor;
  }

  HEDDLE_INLINE static unsigned long long bits_of_number(double value) {
    return __builtin_bit_cast(unsigned long long, value);
  }
  HEDDLE_INLINE static unsigned bits_of_number(float value) {
    return __builtin_bit_cast(unsigned, value);
  }
  HEDDLE_INLINE static double number_of_bits(unsigned long long bits) {
    return double_of_bits(bits);
  }
  HEDDLE_INLINE static float number_of_bits(unsigned bits) { return float_of_bits(bits); }

  /// The lowest bits of `value`, and its remainder without them.
  template <int count, class S>
  HEDDLE_INLINE static int split(S value, S& without) {
    auto bits = bits_of_number(value);
    constexpr decltype(bits) mask = (1 << count) - 1;
    without = number_of_bits(bits & ~mask);
    return static_cast<int>(bits & mask);
  }
  /// `value`, or its opposite if `is_negative` is 1.
  template <class S>
  HEDDLE_INLINE static S with_sign(S value, int is_negative) {
    auto bits = bits_of_number(value);
    bits ^= static_cast<decltype(bits)>(is_negative) << (8 * int(sizeof bits) - 1);
    return number_of_bits(bits);
  }

#if defined(__CUDA_ARCH__)
  HEDDLE_INLINE static double reciprocal(double d) {
    double estimate;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(d));
    return reciprocal_from(d, estimate);
  }
  HEDDLE_INLINE static float reciprocal(float d) {
    float estimate;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(d));
    return reciprocal_from(d, estimate);
  }
#else
  template <class S>
  HEDDLE_INLINE static S reciprocal(S d) {
    return 1 / d;
  }
#endif
};

template <class A>
struct HEDDLE_EXPORT encoded<unit_code, A> {
  using stored_scalar = typename A::stored_scalar;
  using arithmetic = A;
  using code = unit_code;
  static constexpr int components = 3;
  static constexpr int table_bytes = unit_code::max_values * int(sizeof(stored_scalar));

  stored_scalar component[components];

  HEDDLE_INLINE A load(const stored_scalar* table) const {
    stored_scalar t[components];
    const int low = unit_code::split<2>(component[0], t[0]);
    const int number = low | unit_code::split<2>(component[1], t[1]) << 2;
    const int is_negative = unit_code::split<1>(component[2], t[2]);
    const stored_scalar squares = t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
    const stored_scalar d = 1 + squares / 4;
    const stored_scalar factor = table[number] * unit_code::reciprocal(d);
    A a;
    unit_code::restore(t, d, unit_code::with_sign(factor, is_negative), a.component);
    return a;
  }
};

template <class E>
inline constexpr bool is_encoded = false;
template <class Code, class A>
inline constexpr bool is_encoded<encoded<Code, A>> = true;

/// True if the entries are followed by a table that decodes them.
template <class E>
inline constexpr bool has_table = requires { E::table_bytes; };
/// True if that table is a few numbers.
template <class E>
inline constexpr bool has_small_table = false;
template <class A>
inline constexpr bool has_small_table<encoded<unit_code, A>> = true;
/// True if the entries are followed by a word by which sums are multiplied.
template <class E>
inline constexpr bool has_scale = is_encoded<E> && !has_table<E>;

/// Tables begin at multiples of this many bytes.
inline constexpr Offset table_alignment = 16;

/// Where the table lies, for an E that has one.
template <class E>
HEDDLE_INLINE const stored_scalar_t<E>* trailing_table(const stored_scalar_t<E>* values,
                                                       Offset slots) {
  const Offset bytes = slots * Offset(sizeof(E)) + table_alignment - 1;
  return values + bytes / table_alignment * (table_alignment / Offset(sizeof(*values)));
}

/// The entry as numbers to compute with; `table` is for entries that have one.
template <class E>
HEDDLE_INLINE arithmetic_t<E> load_by(const E& entry, const stored_scalar_t<E>* table) {
  if constexpr (has_table<E>) {
    return entry.load(table);
  } else {
    return load(entry);
  }
}

/// Entries of E as `values` yields them, decoded by a table.
template <class E, class Values>
struct DecodedValues {
  Values values;
  const stored_scalar_t<E>* data;
  const stored_scalar_t<E>* table;

  HEDDLE_INLINE arithmetic_t<E> operator()(Offset step, int lane) const {
    return values(step, lane).load(table);
  }
};

/// s of a matrix with an entry that is not finite.
inline constexpr int scale_of_no_number = 32767;

/// 2^s from the word after the last slot, in the scalar in which rows are summed.
template <class S>
HEDDLE_INLINE S scale_of_word(CodeWord word) {
  const int s = static_cast<short>(word);
  if (s == scale_of_no_number) return static_cast<S>(float_of_bits(0x7fc00000u));
  if constexpr (sizeof(S) == sizeof(float)) {
    return float_of_bits(static_cast<unsigned>(s + 127) << 23);
  } else {
    return static_cast<S>(double_of_bits(static_cast<unsigned long long>(s + 1023) << 52));
  }
}

/// Multiplies the sum of a row of an encoded matrix by the matrix's scale; leaves any other
/// unchanged.
template <class E, class V>
HEDDLE_INLINE void scale_sum(V& sum, const stored_scalar_t<E>* values, Offset slots) {
  if constexpr (has_scale<E>) {
    const auto scale = scale_of_word<typename V::scalar>(values[slots * E::components]);
    for (int k = 0; k < V::components; ++k) sum.component[k] *= scale;
  }
}

}  // namespace heddle
