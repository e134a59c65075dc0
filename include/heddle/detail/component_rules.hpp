// Facts about entries that a GPU's sums need: how components move, and whether they add one by one.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/expansion.hpp"

namespace heddle::detail {

/// Component k of an entry stored by rows is component result[k] of one stored by columns.
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

/// Component k of turn(a) is component |result[k]| - 1 of a, negated if result[k] is negative.
/// Empty if `turn`, which takes vectors of `components` numbers, mixes them.
template <class Turn>
std::optional<std::vector<int>> components_moved_by(int components, const Turn& turn) {
  std::vector<double> a(static_cast<std::size_t>(components));
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<double>(k + 1);
  std::vector<int> from;
  for (const double of : turn(a)) {
    if (!(std::abs(of) >= 1 && std::abs(of) <= components)) return std::nullopt;
    from.push_back(static_cast<int>(of));
    if (of != from.back()) return std::nullopt;
  }
  // Another entry must be moved the same way.
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<double>(1 + (7 * k + 3) % 11);
  const std::vector<double> other = turn(a);
  for (std::size_t k = 0; k < from.size(); ++k) {
    const auto at = static_cast<std::size_t>(from[k] < 0 ? -from[k] : from[k]) - 1;
    if (other[k] != (from[k] < 0 ? -a[at] : a[at])) return std::nullopt;
  }
  return from;
}

/// Same for adjoint(a).
template <class E>
std::optional<std::vector<int>> components_of_adjoint() {
  return components_moved_by(E::components, [](const std::vector<double>& a) {
    E entry{};
    for (std::size_t k = 0; k < a.size(); ++k) {
      entry.component[k] = static_cast<vector_scalar_t<E>>(a[k]);
    }
    const E adjoint_entry = adjoint(entry);
    return std::vector<double>(adjoint_entry.component, adjoint_entry.component + E::components);
  });
}

/// True if a sum of entries is that of their components.
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
