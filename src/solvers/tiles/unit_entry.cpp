// The entry that leaves vectors as they are, found from what entries do to unit vectors.
#include <cstddef>
#include <vector>

#include "base/long_double.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

template <class S>
std::vector<double> unit_entry(const EntryTable<S>& entry) {
  const int K = entry.arithmetic.components, V = entry.sizes.vector_components;
  if (entry.apply_inverses == nullptr || V != entry.sizes.result_components) return {};
  std::vector<std::byte> a(static_cast<std::size_t>(K * entry.arithmetic.scalar_bytes));
  std::vector<double> unit, left(static_cast<std::size_t>(V * V));
  for (int i = 0; i < V; ++i) left[static_cast<std::size_t>(i * (V + 1))] = 1;
  const auto image = [&](int k, int j) {
    for (int other = 0; other < K; ++other) {
      set_stored(a.data(), entry.arithmetic.scalar_bytes, other, other == k ? 1.0 : 0.0);
    }
    std::vector<S> x(static_cast<std::size_t>(V)), y(x.size());
    x[static_cast<std::size_t>(j)] = 1;
    entry.apply_inverses(entry, a.data(), FieldView<const S>(x.data(), 1, V),
                         FieldView<S>(y.data(), 1, V), 0, 1);
    return y;
  };
  // Components act on places of their own, so that the unit has each as often as the identity does.
  for (int k = 0; k < K; ++k) {
    std::vector<std::vector<S>> columns;
    double on_diagonal = 0, all = 0;
    for (int j = 0; j < V; ++j) {
      columns.push_back(image(k, j));
      for (int i = 0; i < V; ++i) {
        const auto value = static_cast<double>(columns.back()[static_cast<std::size_t>(i)]);
        on_diagonal += i == j ? value : 0;
        all += value * value;
      }
    }
    unit.push_back(all > 0 ? on_diagonal / all : 0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto j = i % static_cast<std::size_t>(V);
      left[i] -= unit.back() * static_cast<double>(columns[j][i / static_cast<std::size_t>(V)]);
    }
  }
  for (const double defect : left) {
    if (defect != 0) return {};
  }
  return unit;
}

template std::vector<double> unit_entry(const EntryTable<float>&);
template std::vector<double> unit_entry(const EntryTable<double>&);
HEDDLE_IN_LONG_DOUBLE(template std::vector<double> unit_entry(const EntryTable<long double>&);)

}  // namespace heddle::detail
