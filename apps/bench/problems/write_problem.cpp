// Writes a problem to a file, for other programs and for `heddle tune`.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "heddle/npz.hpp"
#include "problem.hpp"

namespace heddle::bench {

namespace {

template <class E>
auto in_double(const CsrMatrix<E>& matrix) {
  Array<double> values(matrix.values().size());
  std::copy(matrix.values().begin(), matrix.values().end(), values.begin());
  return CsrMatrix<typename E::template with_scalar<double>>(
      matrix.rows(), matrix.columns(), matrix.offsets(), matrix.column(), std::move(values));
}

}  // namespace

void write_problem(const Problem& problem, const std::string& path) {
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    if constexpr (std::is_same_v<stored_scalar_t<E>, double>) {
      write_npz(path, block_view(matrix));
    } else {
      write_npz(path, block_view(in_double(matrix)));
    }
  });
}

}  // namespace heddle::bench
