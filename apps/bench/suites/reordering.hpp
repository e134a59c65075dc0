// Transfers new values of a matrix from the order of compressed rows to that of a plan.
#pragma once

#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "suite.hpp"

namespace heddle::bench {

/// Overwrites the entries, so that no check sees those of an earlier way.
template <class E>
void spoil_entries(Operator<E>& matrix, const Stream& stream) {
  const auto stored = matrix.values_in_basis();
  heddle::detail::fill_bytes(stored.data(), 0xff, stored.size_bytes(), stream);
}

/// Error of the stored entries, in the order of the pattern.
template <class E>
double error_of_entries(Operator<E>& matrix, const CsrMatrix<E>& expected_entries) {
  const auto stored = matrix.values_in_basis();
  const std::vector<Offset> slots = slots_of_entries(matrix.pattern()).to_host();
  std::vector<double> copied(stored.size()), found, expected;
  heddle::detail::copy_bytes(copied.data(), stored.data(), stored.size_bytes(),
                             matrix.device().stream());
  const EntryWriter<E> entries(matrix.pattern(), matrix.plan().layout.inner, copied.data());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const E entry = entries.load(slots[i]), of_csr = expected_entries.entry(static_cast<Offset>(i));
    found.insert(found.end(), entry.component, entry.component + E::components);
    expected.insert(expected.end(), of_csr.component, of_csr.component + E::components);
  }
  return relative_difference(found, expected);
}

/// Adds a record: a product, and the time of new values, on the GPU and on the CPU, relative to it
/// (Wong, Kuhl, Darve 2015, figure 10); with products of compressed rows, by Heddle and cuSPARSE,
/// also the number of products after which the new order has paid for itself against the fastest of
/// those (equation 14). For real numbers and 3x3 blocks in double.
template <class E>
void measure_reordering(Session& session, const Problem& problem, const CsrMatrix<E>& matrix,
                        const Plan& plan, const std::string& quantity);

}  // namespace heddle::bench
