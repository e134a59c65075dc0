// Assembled matrices for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "heddle.h"
#include "settings.hpp"

namespace heddle_python {

struct Matrix {
  SharedContext context = std::make_shared<Context>();
  Owned<heddle_matrix, heddle_matrix_destroy> matrix;

  using Assemble = decltype(&heddle_matrix_from_csr);
  static Matrix assemble(Assemble function, const std::string& entry, std::int64_t rows,
                         std::int64_t columns, const Contiguous& row, const Contiguous& column,
                         const Contiguous& data, bool are_offsets) {
    Matrix made;
    const heddle_view values = values_of(data, entry_named(entry));
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.rows = rows;
    pattern.columns = columns;
    pattern.entries = static_cast<std::int64_t>(column.size());
    pattern.row = row.data();
    pattern.column = column.data();
    pattern.row_bits = index_bits(row, are_offsets ? "indptr" : "row");
    pattern.column_bits = index_bits(column, are_offsets ? "indices" : "col");
    const std::int64_t given = static_cast<std::int64_t>(row.size());
    if (given != (are_offsets ? rows + 1 : pattern.entries)) {
      raise(HEDDLE_ERROR_SIZE_MISMATCH,
            are_offsets ? "indptr has " + std::to_string(given) + " numbers, but the matrix " +
                              std::to_string(rows) + " rows"
                        : "row and col have " + std::to_string(given) + " and " +
                              std::to_string(pattern.entries) + " numbers");
    }
    call(made.context,
         [&] { return function(made.context->own, &pattern, &values, &made.matrix.own); });
    return made;
  }
  /// Without `entry`, entries are real or complex like the numbers of the file.
  static Matrix read(const std::string& path, const std::optional<std::string>& entry,
                     const std::string& precision) {
    Matrix made;
    const heddle_entry kind = entry ? entry_named(*entry) : HEDDLE_NUMBERS;
    const heddle_precision width = precision_named(precision);
    call(made.context, [&] {
      return heddle_matrix_read(made.context->own, c_text(path), kind, width, &made.matrix.own);
    });
    return made;
  }
  static Matrix generate(const std::string& problem, std::int64_t size, std::uint64_t seed) {
    Matrix made;
    call(made.context, [&] {
      return heddle_matrix_generate(made.context->own, c_text(problem), size, seed,
                                    &made.matrix.own);
    });
    return made;
  }
  void write(const std::string& path) const {
    call(context, [&] { return heddle_matrix_write(matrix.own, c_text(path)); });
  }
  void update_values(const Contiguous& data) {
    const heddle_view values = values_of(data, arrays().second.entry);
    call(context, [&] { return heddle_matrix_update_values(matrix.own, &values); });
  }
  std::pair<heddle_pattern, heddle_view> arrays() const {
    heddle_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    heddle_view values{};
    check(context, heddle_matrix_arrays(matrix.own, &pattern, &values));
    return {pattern, values};
  }
  /// Bytes that a product reads, and the total kept.
  std::pair<std::int64_t, std::int64_t> memory(const Settings& settings) const {
    std::int64_t product = 0, total = 0;
    call(context,
         [&] { return heddle_matrix_memory(matrix.own, settings.get(), &product, &total); });
    return {product, total};
  }
  std::int32_t best_ranks(const Settings& settings) const {
    std::int32_t best = 1;
    call(context, [&] { return heddle_matrix_best_ranks(matrix.own, settings.get(), &best); });
    return best;
  }
  /// The JSON text of `heddle info`.
  std::string describe(const Settings& settings) const {
    constexpr std::size_t usual_length = 1 << 16;  // enough that the text is not made twice
    return text_of(
        [&](char* to, std::size_t capacity) {
          std::size_t length = 0;
          call(context, [&] {
            return heddle_matrix_describe(matrix.own, settings.get(), to, capacity, &length);
          });
          return length;
        },
        usual_length);
  }
  std::string advice() const {
    return text_of([&](char* to, std::size_t capacity) {
      return heddle_matrix_advice(matrix.own, to, capacity);
    });
  }
  nb::dict info() const {
    heddle_info info{};
    info.struct_size = sizeof info;
    call(context, [&] { return heddle_matrix_info(matrix.own, &info); });
    nb::dict result;
    result["rows"] = info.rows;
    result["columns"] = info.columns;
    result["entries"] = info.entries;
    result["entry"] = heddle_entry_name(info.entry);
    result["precision"] = info.precision == HEDDLE_SINGLE ? "single" : "double";
    result["shortest_row"] = info.shortest_row;
    result["longest_row"] = info.longest_row;
    result["mean_row"] = info.mean_row;
    result["empty_rows"] = info.empty_rows;
    result["bandwidth"] = info.bandwidth;
    result["missing_diagonal"] = info.missing_diagonal;
    result["singular_diagonal"] = info.singular_diagonal;
    result["symmetric_pattern"] = info.symmetric_pattern != 0;
    result["has_adjoint"] = info.has_adjoint != 0;
    result["hermitian_defect"] = info.hermitian_defect;
    return result;
  }
};

inline nb::tuple arrays_of(nb::handle_t<Matrix> self) {
  const auto [pattern, values] = nb::cast<const Matrix&>(self).arrays();
  const std::size_t offsets = static_cast<std::size_t>(pattern.rows) + 1;
  const auto entries = static_cast<std::size_t>(pattern.entries);
  return nb::make_tuple(
      nb::cast(nb::ndarray<nb::numpy, const std::int64_t>(pattern.row, 1, &offsets, self),
               nb::rv_policy::reference),
      nb::cast(nb::ndarray<nb::numpy, const std::int32_t>(pattern.column, 1, &entries, self),
               nb::rv_policy::reference),
      array_over(values.data, values.count, heddle_entry_scalars(values.entry), values.entry,
                 values.precision, self, false));
}

}  // namespace heddle_python
