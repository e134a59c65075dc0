// A number of several cells at once: registers of the host, for models that are written once for a
// double and for this.
//
// Every operation is done on every lane alike, so a lane's bits depend on its own number only. A
// program takes 16 bytes a register on every x86-64, and 32 within functions for AVX2.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::heart {

/// `parts` registers of `bytes` bytes. Nothing but its members passes registers by value: which
/// registers those are depends on the instructions that a function is compiled for.
template <int bytes, int parts>
struct LaneGroup {
  typedef double Numbers __attribute__((vector_size(bytes)));
  typedef unsigned long long Bits __attribute__((vector_size(bytes)));
  typedef long long Choices __attribute__((vector_size(bytes)));
  static constexpr int in_part = bytes / 8;
  static constexpr int lanes = parts * in_part;

  /// What a comparison says of each lane: all bits set or none.
  struct Mask {
    Choices part[parts];
  };

  Numbers part[parts];

  LaneGroup() = default;
  /// The same number in every lane.
  HEDDLE_INLINE LaneGroup(double x) {
    for (int p = 0; p < parts; ++p) part[p] = x - Numbers{};  // -0 too
  }
  HEDDLE_INLINE static LaneGroup load(const double* from) {
    LaneGroup x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
  }
  HEDDLE_INLINE void store(double* to) const { __builtin_memcpy(to, this, sizeof *this); }

  HEDDLE_INLINE friend LaneGroup operator+(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = a.part[p] + b.part[p];
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator-(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = a.part[p] - b.part[p];
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator*(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = a.part[p] * b.part[p];
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator/(const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = a.part[p] / b.part[p];
    return c;
  }
  HEDDLE_INLINE friend LaneGroup operator-(const LaneGroup& a) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = -a.part[p];
    return c;
  }
  HEDDLE_INLINE friend Mask operator<(const LaneGroup& a, const LaneGroup& b) {
    Mask mask;
    for (int p = 0; p < parts; ++p) mask.part[p] = a.part[p] < b.part[p];
    return mask;
  }
  HEDDLE_INLINE friend Mask operator==(const LaneGroup& a, const LaneGroup& b) {
    Mask mask;
    for (int p = 0; p < parts; ++p) mask.part[p] = a.part[p] == b.part[p];
    return mask;
  }
  /// a where the mask is set, else b.
  HEDDLE_INLINE friend LaneGroup select(const Mask& mask, const LaneGroup& a, const LaneGroup& b) {
    LaneGroup c;
    for (int p = 0; p < parts; ++p) c.part[p] = mask.part[p] ? a.part[p] : b.part[p];
    return c;
  }
  HEDDLE_INLINE friend LaneGroup sqrt(const LaneGroup& x) {
    LaneGroup root;
    for (int p = 0; p < parts; ++p) {
      for (int k = 0; k < in_part; ++k) root.part[p][k] = __builtin_sqrt(x.part[p][k]);
    }
    return root;
  }

  /// e^x, within 1 unit in the last place; x = n ln 2 + r with |r| <= ln 2 / 2.
  HEDDLE_INLINE friend LaneGroup exp(const LaneGroup& x) {
    // Beyond these the result is infinite or 0. NaN compares as false and passes.
    LaneGroup y = select(LaneGroup(710) < x, LaneGroup(710), x);
    y = select(y < LaneGroup(-746), LaneGroup(-746), y);
    // Adding 1.5 2^52 rounds to a whole number, and leaves n + 2046 in the last bits.
    constexpr double shift = 0x1.8p52 + 2046;
    const LaneGroup shifted = y * 0x1.71547652b82fep+0 + shift;
    const LaneGroup n = shifted - shift;
    // The first part of ln 2 has 42 bits: its product with n is exact.
    const LaneGroup r = y - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
    // (e^r - 1 - r) / r^2, by Remez' algorithm, to 1e-16.
    LaneGroup q = 0x1.af632c4f54319p-26;
    q = q * r + 0x1.2891860c00330p-22;
    q = q * r + 0x1.71ddf6b3236dap-19;
    q = q * r + 0x1.a019b90c86cd7p-16;
    q = q * r + 0x1.a01a01b00c774p-13;
    q = q * r + 0x1.6c16c1788c0a5p-10;
    q = q * r + 0x1.111111110f803p-7;
    q = q * r + 0x1.5555555553d62p-5;
    q = q * r + 0x1.5555555555558p-3;
    q = q * r + 0x1.0000000000001p-1;
    LaneGroup result = r * r * q + r + 1;
    // 2^n as two factors, for results that are nearly infinite or have lost digits.
    for (int p = 0; p < parts; ++p) {
      const Bits bits = reinterpret_cast<Bits>(shifted.part[p]), half = bits >> 1;
      result.part[p] *= reinterpret_cast<Numbers>(half << 52);
      result.part[p] *= reinterpret_cast<Numbers>((bits - half) << 52);
    }
    return result;
  }

  /// The natural logarithm, within 1 unit in the last place; x = 2^k (1 + f) with 1 + f between
  /// the roots of 1/2 and 2.
  HEDDLE_INLINE friend LaneGroup log(const LaneGroup& x) {
    const Mask subnormal = x < LaneGroup(0x1p-1022);
    const LaneGroup y = select(subnormal, x * 0x1p54, x);
    constexpr unsigned long long root = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
    LaneGroup k, m;
    for (int p = 0; p < parts; ++p) {
      const Bits bits = reinterpret_cast<Bits>(y.part[p]);
      // 1023 more than k, a number that is not negative, made a double by the bits of 2^52.
      const Bits above = bits + ((1023ULL << 52) - root), exponent = above >> 52;
      k.part[p] = reinterpret_cast<Numbers>(exponent | (1075ULL << 52)) - (0x1p52 + 1023);
      m.part[p] = reinterpret_cast<Numbers>(bits - (exponent << 52) + (1023ULL << 52));
    }
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
    // As f - (f^2/2 - s (f^2/2 + R)), whose first term is exact.
    const LaneGroup h = f * f * 0.5;
    const LaneGroup ordinary =
        k * 0x1.62e42fefa3800p-1 - (h - (s * (h + R) + k * 0x1.ef35793c76730p-45) - f);
    const LaneGroup infinite = __builtin_inf(), none = __builtin_nan("");
    LaneGroup result = select(x < infinite, ordinary, x + x);  // infinity and NaN stay
    result = select(x < LaneGroup(0), none, result);
    return select(x == LaneGroup(0), -infinite, result);
  }
};

}  // namespace heddle::heart
