#include <algorithm>
#include <limits>

#include "assemble.hpp"
#include "heddle/npz.hpp"
#include "heddle/read.hpp"
#include "heddle/tools/team.hpp"
#include "npz_member.hpp"
#include "npz_places.hpp"

namespace heddle {

namespace {

using io::Archive;
using io::Member;

/// Blocks whose first index runs fastest, put in the order of heddle's blocks.
Array<double> to_row_order(const Array<double>& from, std::size_t blocks, std::size_t rows,
                           std::size_t columns, std::size_t scalars, const Device& device) {
  Array<double> to(from.size(), device);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k < scalars; ++k) {
          to[((b * rows + r) * columns + c) * scalars + k] =
              from[(b + blocks * (r + rows * c)) * scalars + k];
        }
      }
    }
  }
  return to;
}

BlockMatrix rows_of_archive(const Archive& archive, const std::string& format, const Device& device,
                            Progress* progress) {
  const auto report = [&](double fraction) {
    if (progress != nullptr) progress->report(fraction, "reading");
  };
  report(0);
  BlockMatrix matrix;
  Member data(archive, "data.npy");
  const io::BlockSizes sizes = io::read_sizes(archive, data.header(), format);
  matrix.rows = static_cast<Index>(sizes.rows);
  matrix.columns = static_cast<Index>(sizes.columns);
  matrix.block_rows = sizes.block_rows;
  matrix.block_columns = sizes.block_columns;
  Member offsets(archive, "indptr.npy"), column(archive, "indices.npy");
  io::check_offset_count(offsets, matrix.rows, "rows");
  matrix.offsets =
      io::read_all_integers<Offset>(offsets, std::numeric_limits<Offset>::max(), device);
  io::check_offsets(matrix.offsets, column.items(), data.header().shape[0]);
  report(0.1);
  matrix.column = io::read_all_integers<Index>(column, std::max(matrix.columns - 1, 0), device);
  report(0.3);
  matrix.is_complex = data.header().is_complex();
  matrix.values = io::read_numbers(data, 0, data.items(), device);
  data.finish();
  if (matrix.columns == 0 && !matrix.column.empty())
    detail::malformed_file("entries in a matrix without columns");
  if (data.header().fortran_order && data.header().shape.size() == 3) {
    matrix.values = to_row_order(
        matrix.values, matrix.column.size(), static_cast<std::size_t>(matrix.block_rows),
        static_cast<std::size_t>(matrix.block_columns), matrix.is_complex ? 2 : 1, device);
  }
  report(0.9);
  return matrix;
}

BlockMatrix read_archive(const Archive& archive, const Device& device, Progress* progress) {
  const std::string format = io::read_format(archive);
  BlockMatrix matrix = format == "csr" || format == "bsr"
                           ? rows_of_archive(archive, format, device, progress)
                           : io::read_places(archive, format, device, progress);
  const int components = matrix.block_rows * matrix.block_columns * (matrix.is_complex ? 2 : 1);
  const Index row =
      io::sort_and_sum_rows(matrix.offsets, matrix.column, matrix.values, components, device);
  if (row >= 0) {
    throw Error(ErrorKind::not_finite,
                "the sum of duplicate entries in row " + std::to_string(row) + " is not finite");
  }
  return matrix;
}

ScalarMatrix of_scalars(bool is_complex, Index rows, Index columns, Array<Offset> offsets,
                        Array<Index> column, Array<double> values) {
  ScalarMatrix matrix;
  const auto build = [&]<class E>(E) {
    matrix.matrix =
        CsrMatrix<E>(rows, columns, std::move(offsets), std::move(column), std::move(values));
  };
  is_complex ? build(complex<double>{}) : build(real<double>{});
  return matrix;
}

}  // namespace

BlockMatrix read_npz(const std::string& path, const Device& device, Progress* progress) {
  const Archive archive = io::open_archive(path);
  return detail::naming_file(path, [&] { return read_archive(archive, device, progress); });
}

ScalarMatrix expand_blocks(BlockMatrix matrix, const Device& device) {
  if (matrix.block_rows == 1 && matrix.block_columns == 1) {
    return of_scalars(matrix.is_complex, matrix.rows, matrix.columns, std::move(matrix.offsets),
                      std::move(matrix.column), std::move(matrix.values));
  }
  const int block_rows = matrix.block_rows, block_columns = matrix.block_columns;
  const int scalars = matrix.is_complex ? 2 : 1;
  const Offset rows = Offset(matrix.rows) * block_rows;
  const Offset columns = Offset(matrix.columns) * block_columns;
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (rows > most || columns > most) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(rows) + " by " +
                                              std::to_string(columns) + " numbers, where " +
                                              std::to_string(most) + " rows are possible");
  }
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, device);
  Array<Index> column(matrix.column.size() * static_cast<std::size_t>(block_rows * block_columns),
                      device);
  Array<double> values(column.size() * static_cast<std::size_t>(scalars), device);
  const int team = team_size(device.stream(), static_cast<Offset>(values.size()) + rows);
  parallel_for(team, rows, [&](Offset row) {
    const auto block_row = static_cast<std::size_t>(row / block_rows);
    const Offset begin = matrix.offsets[block_row], end = matrix.offsets[block_row + 1];
    const Offset inside = row % block_rows;
    // All rows of the block rows before, then the rows before this one in its own.
    Offset to = (begin * block_rows + (end - begin) * inside) * block_columns;
    for (Offset i = begin; i < end; ++i) {
      for (int c = 0; c < block_columns; ++c, ++to) {
        column[static_cast<std::size_t>(to)] =
            matrix.column[static_cast<std::size_t>(i)] * block_columns + c;
        for (int k = 0; k < scalars; ++k) {
          values[static_cast<std::size_t>(to * scalars + k)] =
              matrix.values[static_cast<std::size_t>(
                  ((i * block_rows + inside) * block_columns + c) * scalars + k)];
        }
      }
    }
    offsets[static_cast<std::size_t>(row) + 1] = to;
  });
  ScalarMatrix expanded =
      of_scalars(matrix.is_complex, static_cast<Index>(rows), static_cast<Index>(columns),
                 std::move(offsets), std::move(column), std::move(values));
  expanded.block_rows = block_rows;
  expanded.block_columns = block_columns;
  return expanded;
}

}  // namespace heddle
