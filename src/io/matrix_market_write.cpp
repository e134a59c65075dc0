#include <algorithm>
#include <atomic>
#include <string>

#include "heddle/matrix_market.hpp"
#include "heddle/npz.hpp"
#include "heddle/tools/team.hpp"
#include "matrix_market_header.hpp"
#include "text_writer.hpp"

namespace heddle {

namespace {

constexpr long long rows_a_chunk = 8192;

template <class E>
const double* value_at(const CsrView<E>& matrix, Offset i) {
  return matrix.values + i * E::components;
}

template <class E>
int team_of(const CsrView<E>& matrix) {
  return team_size(matrix.device.stream(), matrix.entries() + matrix.rows);
}

/// The value at (row, column), or nullptr if nothing is stored.
template <class E>
const double* find(const CsrView<E>& matrix, bool is_sorted, Index row, Index column) {
  const Index* const begin = matrix.column + matrix.offsets[row];
  const Index* const end = matrix.column + matrix.offsets[row + 1];
  const Index* const found =
      is_sorted ? std::lower_bound(begin, end, column) : std::find(begin, end, column);
  if (found == end || *found != column) return nullptr;
  return value_at(matrix, found - matrix.column);
}

template <class E>
bool mirrors(const double* value, const double* mirrored, Symmetry symmetry, bool on_diagonal) {
  if (symmetry == Symmetry::skew_symmetric && on_diagonal) return false;
  if (mirrored == nullptr) return false;
  for (int k = 0; k < E::components; ++k) {
    const bool negated =
        symmetry == Symmetry::skew_symmetric || (symmetry == Symmetry::hermitian && k == 1);
    if (value[k] != (negated ? -mirrored[k] : mirrored[k])) return false;
  }
  return true;
}

/// Half of the matrix is not written, so it must be exactly what a reader will make of the other.
template <class E>
void check_symmetry(const CsrView<E>& matrix, Symmetry symmetry) {
  const std::string name(io::symmetry_names[static_cast<std::size_t>(symmetry)]);
  if (matrix.rows != matrix.columns) {
    throw Error(ErrorKind::usage, "a matrix of " + std::to_string(matrix.rows) + " by " +
                                      std::to_string(matrix.columns) + " is not " + name);
  }
  if (symmetry == Symmetry::hermitian && E::components == 1) {
    throw Error(ErrorKind::usage, "a real matrix is written as symmetric, not as hermitian");
  }
  const bool is_sorted = parallel_all(team_of(matrix), matrix.rows, [&](Index row) {
    return std::is_sorted(matrix.column + matrix.offsets[row],
                          matrix.column + matrix.offsets[row + 1]);
  });
  std::atomic<Index> first_bad{matrix.rows};
  parallel_for(team_of(matrix), matrix.rows, 1024, [&](Index row) {
    if (row > first_bad.load(std::memory_order_relaxed)) return;
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const Index column = matrix.column[i];
      if (!mirrors<E>(value_at(matrix, i), find(matrix, is_sorted, column, row), symmetry,
                      row == column)) {
        lower(first_bad, row);
      }
    }
  });
  if (first_bad.load() == matrix.rows) return;
  throw Error(ErrorKind::usage, "the matrix is not " + name + ": row " +
                                    std::to_string(first_bad.load()) +
                                    " differs from its column; write it as general");
}

std::string banner(bool is_complex, Symmetry symmetry) {
  return std::string("%%MatrixMarket matrix coordinate ") + (is_complex ? "complex " : "real ") +
         std::string(io::symmetry_names[static_cast<std::size_t>(symmetry)]) + '\n';
}

void append_value(std::string& text, const double* value, int scalars) {
  for (int k = 0; k < scalars; ++k) {
    if (k > 0) text += ' ';
    io::append_number(text, value[k]);
  }
  text += '\n';
}

template <class E>
void write_matrix_market(const std::string& path, const CsrView<E>& matrix, Symmetry symmetry,
                         const std::string& tiles, Progress* progress) {
  const bool all = symmetry == Symmetry::general;
  if (!all) check_symmetry(matrix, symmetry);
  const auto count_written = [&](Index row, Offset& written) {
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      written += matrix.column[i] <= row;
    }
  };
  const Offset entries =
      all ? matrix.entries()
          : parallel_reduce(team_of(matrix), matrix.rows, Offset(0), count_written,
                            [](Offset& sum, Offset own) { sum += own; });
  io::TextWriter writer(path, team_of(matrix), progress);
  writer.write(banner(E::components == 2, symmetry) + tiles + std::to_string(matrix.rows) + ' ' +
               std::to_string(matrix.columns) + ' ' + std::to_string(entries) + '\n');
  writer.write_ranges(matrix.rows, rows_a_chunk,
                      [&](long long begin, long long end, std::string& text) {
                        for (auto row = static_cast<Index>(begin); row < end; ++row) {
                          for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
                            if (!all && matrix.column[i] > row) continue;
                            io::append_number(text, row + 1LL);
                            text += ' ';
                            io::append_number(text, matrix.column[i] + 1LL);
                            text += ' ';
                            append_value(text, value_at(matrix, i), E::components);
                          }
                        }
                      });
  writer.commit();
}

/// `tiles`: a line of the file, or empty.
template <class E>
void write_by_name(const std::string& path, const CsrView<E>& matrix, Symmetry symmetry,
                   const std::string& tiles, Progress* progress) {
  if (!path.ends_with(".npz")) return write_matrix_market(path, matrix, symmetry, tiles, progress);
  if (symmetry != Symmetry::general) {
    throw Error(ErrorKind::usage, path + ": a .npz file stores every entry; write it as general");
  }
  write_npz(path, {matrix.pattern(), 1, 1, E::components == 2, matrix.values},
            NpzCompression::stored, progress);
}

}  // namespace

void write_scalar_matrix(const std::string& path, const CsrView<real<double>>& matrix,
                         Symmetry symmetry, Progress* progress) {
  write_by_name(path, matrix, symmetry, "", progress);
}

void write_scalar_matrix(const std::string& path, const CsrView<complex<double>>& matrix,
                         Symmetry symmetry, Progress* progress) {
  write_by_name(path, matrix, symmetry, "", progress);
}

void write_scalar_matrix(const std::string& path, const ScalarMatrix& matrix, Symmetry symmetry,
                         Progress* progress) {
  std::string tiles;
  if (matrix.block_rows * matrix.block_columns > 1) {
    tiles = std::string(io::tiles_tag) + std::to_string(matrix.block_rows) + " x " +
            std::to_string(matrix.block_columns) + '\n';
  }
  std::visit([&](const auto& m) { write_by_name(path, m.view(), symmetry, tiles, progress); },
             matrix.matrix);
}

}  // namespace heddle
