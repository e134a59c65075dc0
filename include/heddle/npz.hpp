// SciPy's sparse matrices in `.npz` files (scipy.sparse.save_npz).
#pragma once

#include <string>
#include <type_traits>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/matrix_market.hpp"

namespace heddle {

/// Sparse rows of full blocks, as BSR stores them: entry i is block_rows * block_columns numbers,
/// row by row, from values[i * block_rows * block_columns * (is_complex ? 2 : 1)] on. CSR is the
/// case of 1 by 1 blocks. Rows and columns are counted in blocks; columns are sorted in each row.
struct HEDDLE_EXPORT BlockMatrix {
  Index rows = 0;
  Index columns = 0;
  int block_rows = 1;
  int block_columns = 1;
  bool is_complex = false;
  Array<Offset> offsets;
  Array<Index> column;
  Array<double> values;
};

/// The same, not owned, for writing.
struct HEDDLE_EXPORT BlockMatrixView {
  PatternView pattern;
  int block_rows = 1;
  int block_columns = 1;
  bool is_complex = false;
  const double* values = nullptr;
};

/// Entries in the form that files store: blocks as blocks, complex numbers as complex numbers,
/// others as their components below one another. The matrix must outlive the view.
template <class E>
  requires std::is_same_v<stored_scalar_t<E>, double>
BlockMatrixView block_view(const CsrMatrix<E>& matrix) {
  BlockMatrixView view{matrix.view().pattern(), 1, 1, false, matrix.values().data()};
  if constexpr (requires { E::block_rows; }) {
    view.block_rows = E::block_rows;
    view.block_columns = E::block_columns;
    view.is_complex = E::components != E::block_rows * E::block_columns;
  } else if constexpr (E::ring == Ring::complex) {
    view.is_complex = true;
  } else {
    view.block_rows = E::components;
  }
  return view;
}

/// Reads a CSR or BSR file unchanged, and makes rows from CSC, COO and DIA: integers of any width,
/// booleans, numbers in single or double precision, real or complex; members stored or deflated,
/// whose checksums are compared. Sorts columns and sums duplicates. Throws `Error` as
/// `read_scalar_matrix` does.
HEDDLE_EXPORT BlockMatrix read_npz(const std::string& path, const Device& device = Device::cpu(),
                                   Progress* progress = nullptr);

/// The blocks taken apart into numbers; keeps the block shape.
HEDDLE_EXPORT ScalarMatrix expand_blocks(BlockMatrix matrix, const Device& device = Device::cpu());

enum class NpzCompression { stored, deflated };

/// Writes CSR if the blocks are 1 by 1, else BSR, which `scipy.sparse.load_npz` reads.
HEDDLE_EXPORT void write_npz(const std::string& path, const BlockMatrixView& matrix,
                             NpzCompression compression = NpzCompression::stored,
                             Progress* progress = nullptr);

}  // namespace heddle
