// What a GPU's sums of entries need to know of them: how components move and which add.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/expansion.hpp"

namespace heddle::detail {

/// Component k of an entry by rows is component result[k] of one by columns.
template <class E>
std::vector<int> components_by_rows() {
  std::vector<stored_scalar_t<E>> number(E::components);
  for (int k = 0; k < E::components; ++k) {
    number[static_cast<std::size_t>(k)] = static_cast<stored_scalar_t<E>>(k);
  }
  CsrView<E> view;
  view.values = number.data();
  view.order = column_major;
  const E entry = entry_of(view, 0);
  std::vector<int> from(E::components);
  for (int k = 0; k < E::components; ++k) {
    from[static_cast<std::size_t>(k)] = static_cast<int>(entry.component[k]);
  }
  return from;
}

/// Component k of adjoint(a) is component |result[k]| - 1 of a, negative for a negative number.
/// Nothing for an entry whose adjoint mixes components.
template <class E>
std::optional<std::vector<int>> components_of_adjoint() {
  E a{};
  for (int k = 0; k < E::components; ++k) a.component[k] = static_cast<vector_scalar_t<E>>(k + 1);
  const E turned = adjoint(a);
  std::vector<int> from;
  for (int k = 0; k < E::components; ++k) {
    const auto of = static_cast<int>(turned.component[k]);
    if (of == 0 || of < -E::components || of > E::components) return std::nullopt;
    from.push_back(of);
  }
  // Another entry must be turned alike.
  for (int k = 0; k < E::components; ++k) {
    a.component[k] = static_cast<vector_scalar_t<E>>(1 + (7 * k + 3) % 11);
  }
  const E other = adjoint(a);
  for (std::size_t k = 0; k < from.size(); ++k) {
    const int of = from[k];
    const auto expected = of < 0 ? -a.component[-of - 1] : a.component[of - 1];
    if (other.component[k] != expected) return std::nullopt;
  }
  return from;
}

/// Whether a sum of entries is that of their components.
template <class E>
bool adds_components() {
  E a{}, b{};
  for (int k = 0; k < E::components; ++k) {
    a.component[k] = static_cast<vector_scalar_t<E>>(k + 1);
    b.component[k] = static_cast<vector_scalar_t<E>>(100 * (E::components - k));
  }
  const E sum = add(a, b);
  for (int k = 0; k < E::components; ++k) {
    if (sum.component[k] != a.component[k] + b.component[k]) return false;
  }
  return true;
}

}  // namespace heddle::detail
