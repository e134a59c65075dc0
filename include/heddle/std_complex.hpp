// heddle::complex to and from std::complex.
#pragma once

#include <complex>

#include "heddle/entries/complex.hpp"

namespace heddle {

template <class S>
constexpr std::complex<S> to_std(const complex<S>& a) {
  return {a.re(), a.im()};
}
template <class S>
constexpr complex<S> from_std(const std::complex<S>& a) {
  return {{a.real(), a.imag()}};
}

/// The scalars of an array of complex numbers, in the form that `CsrView` and `update_values` take.
template <class S>
const S* scalars_of(const std::complex<S>* numbers) {
  return reinterpret_cast<const S*>(numbers);
}

}  // namespace heddle
