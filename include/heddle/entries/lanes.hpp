// Two or four sums that grow together: the host's vector registers, stated explicitly, because a
// compiler finds them by itself in one loop and not in the next. 16 bytes are native to every
// x86-64 and AArch64; if fused instructions are available, each line below is one.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle {

/// N sums of scalars S.
template <class S, int N>
struct Lanes {
  S lane[N];

  /// lane[k] += a * x[k].
  HEDDLE_INLINE void add(const S& a, const S* x) {
    for (int k = 0; k < N; ++k) lane[k] += a * x[k];
  }
  HEDDLE_INLINE S operator[](int k) const { return lane[k]; }
};

#if defined(__GNUC__) && !defined(__CUDACC__)

namespace detail {

template <class S>
struct Vector16 {
  using type __attribute__((vector_size(16))) = S;
};

/// N / (16 / sizeof(S)) registers.
template <class S, int N>
struct VectorLanes {
  using Vector = typename Vector16<S>::type;
  static constexpr int width = 16 / sizeof(S);
  Vector part[N / width];

  HEDDLE_INLINE void add(const S& a, const S* x) {
    for (int p = 0; p < N / width; ++p) {
      Vector v;
      __builtin_memcpy(&v, x + p * width, sizeof v);
      part[p] += a * v;
    }
  }
  HEDDLE_INLINE S operator[](int k) const { return part[k / width][k % width]; }
};

}  // namespace detail

template <int N>
  requires(N % 2 == 0)
struct Lanes<double, N> : detail::VectorLanes<double, N> {};
template <int N>
  requires(N % 4 == 0)
struct Lanes<float, N> : detail::VectorLanes<float, N> {};

#endif

}  // namespace heddle
