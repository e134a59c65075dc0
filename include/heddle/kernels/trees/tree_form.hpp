// The form of a tree's matrix that a product multiplies by. Shared by CPU and GPU.
#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle::detail {

/// A, A* or A^T.
enum class TreeForm { direct, adjoint, transpose };

template <class A>
concept is_complex_number = A::ring == Ring::complex && A::components == 2;

/// True if A's entries have the form: A^T exists for real and complex numbers, and for blocks of
/// real numbers.
template <TreeForm form, class A>
inline constexpr bool has_form = [] {
  constexpr bool has_adjoint = requires(const A& a) { adjoint(a); };
  if constexpr (form == TreeForm::direct) return true;
  if constexpr (form == TreeForm::adjoint) return has_adjoint;
  return is_complex_number<A> || (has_adjoint && A::ring == Ring::real);
}();

/// An entry of A as the product of the form applies it.
template <TreeForm form, class A>
HEDDLE_INLINE auto as_applied(const A& a) {
  if constexpr (form == TreeForm::direct || (form == TreeForm::transpose && is_complex_number<A>)) {
    return a;
  } else {
    return adjoint(a);
  }
}
template <TreeForm form, class E>
using applied_entry_t = decltype(as_applied<form>(*static_cast<const arithmetic_t<E>*>(nullptr)));

}  // namespace heddle::detail
