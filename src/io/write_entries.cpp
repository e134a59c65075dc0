#include "write_entries.hpp"

#include <cstddef>
#include <utility>

namespace heddle {

namespace {

/// Each entry as its real representation, zeros kept.
CsrMatrix<real<double>> expand(const DefinedMatrix<double>& matrix) {
  const detail::Arrangement arranged = arrangement(*matrix.definition());
  const auto V = static_cast<std::size_t>(arranged.columns);
  const Index rows = detail::scaled_size(matrix.rows(), arranged.rows);
  const Index columns = detail::scaled_size(matrix.columns(), arranged.columns);
  const std::size_t scalars = static_cast<std::size_t>(matrix.entries()) * V * V;
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  Array<Index> column(scalars);
  Array<double> values(scalars);
  std::size_t to = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows()); ++row) {
    for (std::size_t i = 0; i < V; ++i) {
      for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k, to += V) {
        const double* const entry = matrix.entry(k);
        const auto first = matrix.column()[static_cast<std::size_t>(k)] * arranged.columns;
        for (std::size_t j = 0; j < V; ++j) {
          const detail::Position at = arranged.at[i * V + j];
          column[to + j] = first + static_cast<Index>(j);
          const double value = at.sign != 0 ? entry[at.component] : 0;
          values[to + j] = at.sign < 0 ? 0 - value : value;  // no -0 from 0, as with typed entries
        }
      }
      offsets[row * V + i + 1] = static_cast<Offset>(to);
    }
  }
  return {rows, columns, std::move(offsets), std::move(column), std::move(values)};
}

}  // namespace

void write_entries(const std::string& path, const DefinedMatrix<double>& matrix,
                   Progress* progress) {
  if (path.ends_with(".npz")) {
    const BlockMatrixView view{matrix.pattern(), matrix.definition()->size(), 1, false,
                               matrix.values().data()};
    return write_npz(path, view, NpzCompression::stored, progress);
  }
  const int V = matrix.definition()->vector_size();
  write_scalar_matrix(path, ScalarMatrix{expand(matrix), V, V}, Symmetry::general, progress);
}

}  // namespace heddle
