// The entries of a matrix in the order of its pattern.
#pragma once

#include <vector>

#include "heddle/entry_writer.hpp"
#include "heddle/operator.hpp"

namespace heddle::test {

/// Components of the user's entries, one after the other, in the host's memory.
template <class E>
std::vector<stored_scalar_t<E>> entries_in_order(Operator<E>& matrix) {
  const std::vector<Offset> slots = slots_of_entries(matrix.pattern()).to_host();
  const auto stored = matrix.values_in_basis();
  std::vector<stored_scalar_t<E>> copied(stored.size()), ordered;
  heddle::detail::copy_bytes(copied.data(), stored.data(), stored.size_bytes(),
                             matrix.device().stream());
  const EntryWriter<E> entries(matrix.pattern(), matrix.plan().layout.inner, copied.data());
  for (const Offset slot : slots) {
    const E entry = entries.load(slot);
    ordered.insert(ordered.end(), entry.component, entry.component + E::components);
  }
  return ordered;
}

}  // namespace heddle::test
