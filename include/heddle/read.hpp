// Matrices and fields of entries from files.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/expansion.hpp"
#include "heddle/field.hpp"
#include "heddle/matrix_market.hpp"

namespace heddle {

namespace detail {

/// The tiling that the blocks of a file imply if `tiling` is automatic: entries are columns of
/// `components`, or tiles of `rows` x `columns`.
inline Tiling tiling_of_blocks(const ScalarMatrix& file, Tiling tiling, int components, int rows,
                               int columns) {
  const int parts = file.is_complex() ? 2 : 1;
  if (tiling != Tiling::automatic || file.block_rows * file.block_columns == 1) return tiling;
  if (file.block_rows * parts == rows && file.block_columns * parts == columns) {
    return Tiling::expansion;
  }
  const bool is_column = file.block_rows * parts == components && file.block_columns == 1;
  return is_column ? Tiling::components : tiling;
}

/// The number of rows of the field in a table of numbers, with `components` real numbers per row.
/// Throws like `field_of`.
inline Index rows_of_field(const ScalarField& file, int components, Ring ring) {
  const int parts = file.is_complex ? 2 : 1;
  if (file.is_complex && !(ring == Ring::complex && components % 2 == 0)) {
    throw Error(ErrorKind::unsupported,
                "a field of complex numbers does not fit entries that are not over complex "
                "numbers; write their " +
                    std::to_string(components) + (components == 1 ? " component" : " components") +
                    " per row as real numbers");
  }
  const Offset numbers = components / parts;  // per row
  const bool by_rows = file.columns == numbers;
  if (!by_rows && (file.columns != 1 || file.rows % numbers != 0)) {
    throw Error(ErrorKind::size_mismatch,
                "a " + std::to_string(file.rows) + " x " + std::to_string(file.columns) +
                    (file.is_complex ? " complex" : " real") + " table is not a field of " +
                    std::to_string(numbers) + " numbers per row; it must have " +
                    std::to_string(numbers) + " columns, or one column and a multiple of " +
                    std::to_string(numbers) + " rows");
  }
  const Offset rows = by_rows ? file.rows : file.rows / numbers;
  if (rows > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::size_mismatch,
                std::to_string(rows) + " rows do not fit one field, which takes 2147483647");
  }
  return static_cast<Index>(rows);
}

}  // namespace detail

/// The entries in a file's matrix, as `fold` finds them. If `tiling` is automatic and the file has
/// blocks (BSR), their shape decides if it is that of an entry E: that of its representation or of
/// the column of its components. Throws `Error`.
template <class E>
CsrMatrix<E> fold(ScalarMatrix file, Tiling tiling = Tiling::automatic,
                  const Device& device = Device::cpu()) {
  tiling = detail::tiling_of_blocks(file, tiling, E::components, tile_rows<E>, tile_columns<E>);
  return std::visit(
      [&]<class X>(CsrMatrix<X>& numbers) -> CsrMatrix<E> {
        if constexpr (std::is_same_v<E, X>) {
          return std::move(numbers);
        } else {
          return fold<E>(numbers, tiling, device);
        }
      },
      file.matrix);
}

/// The field in a table of numbers: with K = vector_entry_t<E>::components real numbers per row,
/// either n rows by K columns or one column of K n, a row's components one after the other. Complex
/// numbers (K / 2 per row) make fields of entries over complex numbers only. Throws `Error`
/// (size_mismatch, unsupported).
template <class E>
Field<E> field_of(const ScalarField& file, const Device& device = Device::cpu()) {
  constexpr int K = vector_entry_t<E>::components;
  const Index rows = detail::rows_of_field(file, K, arithmetic_t<E>::ring);
  Field<E> field(rows, device);
  using S = vector_scalar_t<E>;
  auto& scalars = field.scalars();
  for (std::size_t i = 0; i < scalars.size(); ++i) scalars[i] = static_cast<S>(file.values[i]);
  return field;
}

namespace detail {

/// Runs `make`, and puts the file's name in front of its errors.
template <class F>
auto naming_file(const std::string& path, F&& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

}  // namespace detail

/// Reads a Matrix Market or SciPy `.npz` file into a matrix of entries. Throws the `Error` of
/// `read_scalar_matrix` or `fold`, with the file's name in front.
template <class E>
CsrMatrix<E> read_matrix(const std::string& path, const Device& device = Device::cpu(),
                         Tiling tiling = Tiling::automatic, Progress* progress = nullptr) {
  ScalarMatrix file = read_scalar_matrix(path, device, progress);
  return detail::naming_file(path, [&] { return fold<E>(std::move(file), tiling, device); });
}

/// Reads a field in the user's order from a Matrix Market file. Throws the `Error` of
/// `read_scalar_field` or `field_of`, with the file's name in front.
template <class E>
Field<E> read_field(const std::string& path, const Device& device = Device::cpu(),
                    Progress* progress = nullptr) {
  const ScalarField file = read_scalar_field(path, device, progress);
  return detail::naming_file(path, [&] { return field_of<E>(file, device); });
}

}  // namespace heddle
