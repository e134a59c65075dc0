// Matrices and fields of scalars in files: Matrix Market text (Boisvert, Pozo, Remington, "The
// Matrix Market Exchange Formats", NISTIR 5935, 1996), plain or compressed with gzip.
// docs/reference/file-formats.md describes what readers accept and writers write.
#pragma once

#include <string>
#include <variant>

#include "heddle/csr.hpp"
#include "heddle/entries/complex.hpp"
#include "heddle/entries/real.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle {

/// The content of a file before entries are made from it: real or complex numbers, with the columns
/// of each row sorted and without duplicates. Zeros in the file are kept.
struct HEDDLE_EXPORT ScalarMatrix {
  std::variant<CsrMatrix<real<double>>, CsrMatrix<complex<double>>> matrix;
  /// The shape of the file's blocks: those of a BSR file, which are full, or the tiles named by a
  /// line '%heddle tiles R x C' of a Matrix Market file; else 1 by 1. The sizes of the matrix are
  /// multiples of it. `write_scalar_matrix` writes that line.
  int block_rows = 1;
  int block_columns = 1;

  bool is_complex() const { return matrix.index() == 1; }
  Index rows() const {
    return std::visit([](const auto& m) { return m.rows(); }, matrix);
  }
  Index columns() const {
    return std::visit([](const auto& m) { return m.columns(); }, matrix);
  }
  Offset entries() const {
    return std::visit([](const auto& m) { return m.entries(); }, matrix);
  }
};

/// The half of a matrix that a file stores, and the rule for the other half.
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

/// Reads Matrix Market and SciPy `.npz` files, recognised by their first bytes. Throws `Error`: io
/// for a file that cannot be read; malformed_file, not_finite and out_of_range with "path:line: "
/// or "path: " in front of the fault.
HEDDLE_EXPORT ScalarMatrix read_scalar_matrix(const std::string& path,
                                              const Device& device = Device::cpu(),
                                              Progress* progress = nullptr);

/// The end of the name selects the format: `.npz` (then `symmetry` must be general), `.gz` (Matrix
/// Market, compressed), or anything else (Matrix Market). Numbers read back as the same double.
/// Throws `Error` of kind usage if the matrix does not have the symmetry.
HEDDLE_EXPORT void write_scalar_matrix(const std::string& path, const CsrView<real<double>>& matrix,
                                       Symmetry symmetry = Symmetry::general,
                                       Progress* progress = nullptr);
HEDDLE_EXPORT void write_scalar_matrix(const std::string& path,
                                       const CsrView<complex<double>>& matrix,
                                       Symmetry symmetry = Symmetry::general,
                                       Progress* progress = nullptr);
HEDDLE_EXPORT void write_scalar_matrix(const std::string& path, const ScalarMatrix& matrix,
                                       Symmetry symmetry = Symmetry::general,
                                       Progress* progress = nullptr);

/// A dense table of numbers, row after row; a complex number is two scalars, real part first. (In a
/// Matrix Market file the table is stored column after column.)
struct HEDDLE_EXPORT ScalarField {
  Offset rows = 0;
  Offset columns = 0;
  bool is_complex = false;
  Array<double> values;
};

/// The same, not owned.
struct HEDDLE_EXPORT ScalarFieldView {
  Offset rows = 0;
  Offset columns = 0;
  bool is_complex = false;
  const double* values = nullptr;

  ScalarFieldView(Offset rows, Offset columns, bool is_complex, const double* values)
      : rows(rows), columns(columns), is_complex(is_complex), values(values) {}
  ScalarFieldView(const ScalarField& field)
      : ScalarFieldView(field.rows, field.columns, field.is_complex, field.values.data()) {}
};

/// Reads a Matrix Market file, whose absent numbers are zero, a NumPy array (`.npy`) or a text of
/// numbers, one row per line, recognised by their first bytes. Errors are those of
/// `read_scalar_matrix`.
HEDDLE_EXPORT ScalarField read_scalar_field(const std::string& path,
                                            const Device& device = Device::cpu(),
                                            Progress* progress = nullptr);

/// Writes a Matrix Market array (`.mtx`, `.mtx.gz`), a NumPy array (`.npy`) or text (`.txt`,
/// `.txt.gz`); Matrix Market if the target is not a regular file. Throws `Error` (usage) for
/// another end of the name.
HEDDLE_EXPORT void write_scalar_field(const std::string& path, const ScalarFieldView& field,
                                      Progress* progress = nullptr);

}  // namespace heddle
