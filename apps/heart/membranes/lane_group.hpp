// The same number of several cells at once: registers of the host, for models that are written once
// for a double and for this.
//
// Every operation is the same on every lane, so a lane's bits depend on its own number only. A
// program uses 16-byte registers on every x86-64, and 32-byte ones within functions for AVX2.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "potential_table.hpp"

// Repeats a statement for each part p, without loops: thousands would be inlined into a function.
#define HEDDLE_EACH_PART(...) \
  {                           \
    constexpr long p = 0;     \
    __VA_ARGS__;              \
  }                           \
  if constexpr (parts > 1) {  \
    constexpr long p = 1;     \
    __VA_ARGS__;              \
  }                           \
  if constexpr (parts > 2) {  \
    constexpr long p = 2;     \
    __VA_ARGS__;              \
  }                           \
  if constexpr (parts > 3) {  \
    constexpr long p = 3;     \
    __VA_ARGS__;              \
  }

namespace heddle::heart {

/// `parts` registers of `bytes` bytes. Only its members pass registers by value: the registers used
/// depend on the instructions that a function is compiled for.
template <int bytes, int parts>
  requires(parts <= 4)
struct LaneGroup {
  using Numbers __attribute__((vector_size(bytes))) = double;
  using Bits __attribute__((vector_size(bytes))) = unsigned long long;
  using Choices __attribute__((vector_size(bytes))) = long long;
  static constexpr int in_part = bytes / 8;
  static constexpr int lanes = parts * in_part;

  /// The result of a comparison in each lane: all bits set or none.
  struct Mask {
    Choices part[parts];
  };

  Numbers part[parts];

  LaneGroup() = default;
  /// Turns four numbers in each of four rows into four lanes of four groups.
  HEDDLE_INLINE static void columns_of(const float* const* row, int place, int lane,
                                       LaneGroup* into) {
    static_assert(in_part <= 4 && lanes % 4 == 0);
    using Floats __attribute__((vector_size(16))) = float;
    using Doubles __attribute__((vector_size(32))) = double;
    Floats of[4];
    for (int k = 0; k < 4; ++k) __builtin_memcpy(&of[k], row[k] + place, sizeof of[k]);
    const Floats low01 = __builtin_shufflevector(of[0], of[1], 0, 4, 1, 5);
    const Floats high01 = __builtin_shufflevector(of[0], of[1], 2, 6, 3, 7);
    const Floats low23 = __builtin_shufflevector(of[2], of[3], 0, 4, 1, 5);
    const Floats high23 = __builtin_shufflevector(of[2], of[3], 2, 6, 3, 7);
    const Floats column[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                              __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                              __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                              __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (int k = 0; k < 4; ++k) {
      const Doubles numbers = __builtin_convertvector(column[k], Doubles);
      __builtin_memcpy(&into[k].part[lane / in_part], &numbers, sizeof numbers);
    }
  }

  /// The same number in every lane.
  HEDDLE_INLINE LaneGroup(double x) {
    HEDDLE_EACH_PART(part[p] = x - Numbers{});  // keeps -0
  }
  HEDDLE_INLINE static LaneGroup load(const double* from) {
    LaneGroup x;
    HEDDLE_EACH_PART(__builtin_memcpy(&x.part[p], from + p * in_part, sizeof x.part[p]));
    return x;
  }
  HEDDLE_INLINE void store(double* to) const {
    HEDDLE_EACH_PART(__builtin_memcpy(to + p * in_part, &part[p], sizeof part[p]));
  }

  HEDDLE_INLINE friend LaneGroup operator+(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = a.part[p] + b.part[p]);
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator-(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = a.part[p] - b.part[p]);
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator*(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = a.part[p] * b.part[p]);
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator/(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = a.part[p] / b.part[p]);
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator-(const LaneGroup& a) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = -a.part[p]);
    return c;
  }
  HEDDLE_INLINE friend Mask operator<(const LaneGroup& a, const LaneGroup& b) {
    Mask mask;
    HEDDLE_EACH_PART(mask.part[p] = a.part[p] < b.part[p]);
    return mask;
  }
  HEDDLE_INLINE friend Mask operator==(const LaneGroup& a, const LaneGroup& b) {
    Mask mask;
    HEDDLE_EACH_PART(mask.part[p] = a.part[p] == b.part[p]);
    return mask;
  }
  /// a if the mask is set, else b.
  HEDDLE_INLINE friend LaneGroup select(const Mask& mask, const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART(c.part[p] = mask.part[p] ? a.part[p] : b.part[p]);
    return c;
  }
  /// True if the mask is set in any lane.
  HEDDLE_INLINE friend bool any(const Mask& mask) {
    Mask all = mask;
    HEDDLE_EACH_PART(all.part[0] |= mask.part[p]);
    long long set = 0;
    for (int k = 0; k < in_part; ++k) set |= all.part[0][k];
    return set != 0;
  }
  /// b if either is NaN. Uses the host's single instruction, which compilers do not find.
  HEDDLE_INLINE friend LaneGroup min(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART({
      if constexpr (bytes == 32) {
        c.part[p] = __builtin_ia32_minpd256(a.part[p], b.part[p]);
      } else {
        c.part[p] = __builtin_ia32_minpd(a.part[p], b.part[p]);
      }
    });
    return c;
  }
  HEDDLE_INLINE friend LaneGroup max(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    HEDDLE_EACH_PART({
      if constexpr (bytes == 32) {
        c.part[p] = __builtin_ia32_maxpd256(a.part[p], b.part[p]);
      } else {
        c.part[p] = __builtin_ia32_maxpd(a.part[p], b.part[p]);
      }
    });
    return c;
  }
  template <TableShape shape, int first, int end>
  HEDDLE_INLINE friend void look_up(const float* table, const LaneGroup& x,
                                    LaneGroup (&value)[shape.columns]) {
    static_assert(shape.has(first, end));
    const LaneGroup in_rows = (x - shape.first) * table_rows_of_mV;
    const LaneGroup place = min(LaneGroup(table_rows), max(in_rows, LaneGroup(0)));
    double places[lanes], floors[lanes];
    const float* at[lanes];
    place.store(places);
    for (int lane = 0; lane < lanes; ++lane) {
      const int floor = static_cast<int>(places[lane]);
      const int row = floor < table_rows ? floor : table_rows - 1;
      at[lane] = table + Offset{2} * shape.columns * row;
      floors[lane] = row;
    }
    const LaneGroup part = place - load(floors);
    for (int c = first; c < end; c += 4) {
      LaneGroup difference[4];
      for (int lane = 0; lane < lanes; lane += 4) {
        columns_of(at + lane, 2 * c, lane, value + c);
        columns_of(at + lane, 2 * c + 4, lane, difference);
      }
      for (int k = 0; k < 4; ++k) value[c + k] = value[c + k] + part * difference[k];
    }
  }
  HEDDLE_INLINE friend LaneGroup sqrt(const LaneGroup& x) {
    LaneGroup root;
    HEDDLE_EACH_PART({
      for (int k = 0; k < in_part; ++k) root.part[p][k] = __builtin_sqrt(x.part[p][k]);
    });
    return root;
  }

  /// e^x, within 1.25 units in the last place; 0 where it is below 3.2e-308. x = n ln 2 + r with
  /// |r| <= ln 2 / 2.
  HEDDLE_INLINE friend LaneGroup exp(const LaneGroup& x) {
    // Beyond these bounds the result is infinite or 0. NaN compares as false and passes through.
    const LaneGroup y = max(LaneGroup(-708.5), min(LaneGroup(710), x));
    // Adding 1.5 2^52 rounds to a whole number, and leaves n + 1022 in the last bits.
    constexpr double shift = 0x1.8p52 + 1022;
    const LaneGroup shifted = y * 0x1.71547652b82fep+0 + shift;
    const LaneGroup n = shifted - shift;
    // The first part of ln 2 has 42 bits: its product with n is exact.
    const LaneGroup r = y - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
    // Approximates 2 (e^r - 1 - r) / r^2, by Remez' algorithm, to 3e-17.
    LaneGroup q = 0x1.af632c4f54319p-25;
    q = q * r + 0x1.2891860c00330p-21;
    q = q * r + 0x1.71ddf6b3236dap-18;
    q = q * r + 0x1.a019b90c86cd7p-15;
    q = q * r + 0x1.a01a01b00c774p-12;
    q = q * r + 0x1.6c16c1788c0a5p-9;
    q = q * r + 0x1.111111110f803p-6;
    q = q * r + 0x1.5555555553d62p-4;
    q = q * r + 0x1.5555555555558p-2;
    q = q * r + 0x1.0000000000001p+0;
    const LaneGroup twice = q * r * r + (r + r) + 2;
    // Times 2^(n - 1), whose exponent's bits are n + 1022: finite even if the result is infinite.
    LaneGroup result;
    HEDDLE_EACH_PART({
      const Bits power = reinterpret_cast<Bits>(shifted.part[p]) << 52;
      result.part[p] = twice.part[p] * reinterpret_cast<Numbers>(power);
    });
    return result;
  }

  /// The natural logarithm, within 1.25 units in the last place; x = 2^k (1 + f) with 1 + f between
  /// the roots of 1/2 and 2.
  HEDDLE_INLINE friend LaneGroup log(const LaneGroup& x) {
    const Mask subnormal = x < LaneGroup(0x1p-1022);
    const LaneGroup y = select(subnormal, x * 0x1p54, x);
    constexpr unsigned long long root = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
    LaneGroup k, m;
    HEDDLE_EACH_PART({
      const Bits bits = reinterpret_cast<Bits>(y.part[p]);
      // k + 1023, which is not negative, becomes a double by the bits of 2^52.
      const Bits above = bits + ((1023ULL << 52) - root), exponent = above >> 52;
      k.part[p] = reinterpret_cast<Numbers>(exponent | (1075ULL << 52)) - (0x1p52 + 1023);
      m.part[p] = reinterpret_cast<Numbers>(bits - (exponent << 52) + (1023ULL << 52));
    });
    k = k - select(subnormal, LaneGroup(54), LaneGroup(0));
    const LaneGroup f = m - 1, s = f / (f + 2), z = s * s;
    // log(1 + f) = 2 atanh(s) = 2 s + s R.
    LaneGroup R = 0x1.2b6077712f18fp-3;
    R = R * z + 0x1.39fdaa4a6098ap-3;
    R = R * z + 0x1.7462ba9bfd7abp-3;
    R = R * z + 0x1.c71c62cea40ecp-3;
    R = R * z + 0x1.2492492e05283p-2;
    R = R * z + 0x1.9999999995218p-2;
    R = R * z + 0x1.5555555555558p-1;
    R = R * z;
    // In the form f - (f^2/2 - s (f^2/2 + R)), whose first term is exact.
    const LaneGroup h = f * f * 0.5;
    const LaneGroup ordinary =
        k * 0x1.62e42fefa3800p-1 - (h - (s * (h + R) + k * 0x1.ef35793c76730p-45) - f);
    const LaneGroup infinite = __builtin_inf(), none = __builtin_nan("");
    LaneGroup result = select(x < infinite, ordinary, x + x);  // infinity and NaN pass through
    result = select(x < LaneGroup(0), none, result);
    return select(x == LaneGroup(0), -infinite, result);
  }
};

}  // namespace heddle::heart

#undef HEDDLE_EACH_PART
