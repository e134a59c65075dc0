// The members that an entry of a sparse matrix states; every other header of this folder is an
// example.
//
// A matrix entry `a` acts from the left on a vector entry `x`: y += a * x. The order matters, since
// quaternions and blocks do not commute. See docs/inside/adding-an-entry.md.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The numbers that may multiply a field from the right without leaving its space: the Krylov
/// coefficients. Components of a vector entry are read in groups of 1, 2 or 4 of them.
enum class Ring { real, complex, quaternion };

/// Scalars in one coefficient of the ring.
HEDDLE_HD constexpr int ring_size(Ring ring) {
  return ring == Ring::real ? 1 : ring == Ring::complex ? 2 : 4;
}

/// `k` components of a field at one row: what blocks and real entries act on.
template <class S, int K>
struct HEDDLE_EXPORT small_vector {
  using scalar = S;
  static constexpr int components = K;
  S component[K];
};

namespace detail {

template <class E>
struct arithmetic_of {
  using type = E;
};
template <class E>
  requires requires { typename E::arithmetic; }
struct arithmetic_of<E> {
  using type = typename E::arithmetic;
};

template <class A>
struct result_entry_of {
  using type = typename A::vector_entry;
};
template <class A>
  requires requires { typename A::result_entry; }
struct result_entry_of<A> {
  using type = typename A::result_entry;
};

template <class A>
struct row_sum_of;  // row_product.hpp

}  // namespace detail

/// The type in which an entry computes: its own, unless it is an encoded one with a `load()`.
template <class E>
using arithmetic_t = typename detail::arithmetic_of<E>::type;

/// The type that the entry acts on (a component group of x), and the one it yields (one of y).
template <class E>
using vector_entry_t = typename arithmetic_t<E>::vector_entry;
template <class E>
using result_entry_t = typename detail::result_entry_of<arithmetic_t<E>>::type;

/// The scalar of x and y, and the one that the matrix holds in memory; they may differ.
template <class E>
using vector_scalar_t = typename vector_entry_t<E>::scalar;
template <class E>
using stored_scalar_t = typename E::stored_scalar;

/// True where the transpose of the entry's real representation is an entry again.
template <class E>
concept has_adjoint = requires(const arithmetic_t<E> a, arithmetic_t<E> b) { b = adjoint(a); };

/// True where rows and columns of an entry agree and it can be inverted: what Jacobi needs.
template <class E>
concept has_inverse = requires(const arithmetic_t<E> a, arithmetic_t<E> b) { b = inverse(a); };

/// Compiles if E states all that storage and product need; otherwise the first error names what is
/// missing. Every template over entries begins with `static_assert(check_entry<E>())`.
template <class E>
HEDDLE_HD constexpr bool check_entry() {
  static_assert(
      requires { typename E::stored_scalar; },
      "heddle entry: 'using stored_scalar = ...' is missing");
  static_assert(
      requires { E::components; },
      "heddle entry: 'static constexpr int components = ...' is missing");
  static_assert(
      requires(E e) { e.component[0]; },
      "heddle entry: the array 'stored_scalar component[components]' is missing");
  if constexpr (requires { E::components * sizeof(typename E::stored_scalar); }) {
    static_assert(sizeof(E) == E::components * sizeof(typename E::stored_scalar),
                  "heddle entry: it must hold its 'component' array and nothing else");
  }
  using A = arithmetic_t<E>;
  static_assert(
      requires { typename A::vector_entry; },
      "heddle entry: 'using vector_entry = ...' is missing");
  static_assert(
      requires { ring_size(A::ring); }, "heddle entry: 'static constexpr Ring ring' is missing");
  static_assert(requires(A a) { a = A::zero(); }, "heddle entry: 'static zero()' is missing");
  if constexpr (requires { typename A::vector_entry; }) {
    static_assert(
        requires(const A a, const typename A::vector_entry x,
                 typename detail::result_entry_of<A>::type y) { multiply_add(y, a, x); },
        "heddle entry: 'multiply_add(y, a, x)', which adds a * x to y, is missing");
  }
  static_assert(
      requires(A a, const A b) { a = add(b, b); }, "heddle entry: 'add(a, b)' is missing");
  return true;
}

/// The entry as numbers to compute with: `load()` where it has one, itself otherwise.
template <class E>
HEDDLE_INLINE arithmetic_t<E> load(const E& stored) {
  if constexpr (requires { stored.load(); }) {
    return stored.load();
  } else {
    return stored;
  }
}

template <class V>
HEDDLE_INLINE V zero_vector() {
  V v;
  for (int k = 0; k < V::components; ++k) v.component[k] = typename V::scalar(0);
  return v;
}

/// Component by component sum of two aggregates of the same type.
template <class T>
HEDDLE_INLINE T add_components(const T& a, const T& b) {
  T sum;
  for (int k = 0; k < T::components; ++k) sum.component[k] = a.component[k] + b.component[k];
  return sum;
}

}  // namespace heddle
