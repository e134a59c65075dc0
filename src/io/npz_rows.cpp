#include "npz_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "assemble.hpp"
#include "heddle/read.hpp"

namespace heddle {

namespace {

using io::Member;

/// A file without rows, for blocks of these sizes.
ScalarMatrix empty_file(const io::BlockSizes& sizes, bool is_complex) {
  ScalarMatrix file;
  if (is_complex) file.matrix = CsrMatrix<complex<double>>();
  file.block_rows = sizes.block_rows;
  file.block_columns = sizes.block_columns;
  return file;
}

}  // namespace

NpzRows::NpzRows(const std::string& path) : path_(path), archive_(io::open_archive(path)) {
  detail::naming_file(path_, [&] {
    const std::string format = io::read_format(archive_);
    has_rows_ = format == "csr" || format == "bsr";
    if (!has_rows_) return;
    const Member data(archive_, "data.npy");
    sizes_ = io::read_sizes(archive_, data.header(), format);
    is_complex_ = data.header().is_complex();
    is_in_fortran_order_ = data.header().fortran_order && data.header().shape.size() == 3;
    entries_ = data.header().shape[0];
    columns_of_entries_ = static_cast<long long>(Member(archive_, "indices.npy").items());
    io::check_offset_count(Member(archive_, "indptr.npy"), sizes_.rows, "rows");
    if (sizes_.columns == 0 && entries_ > 0) {
      detail::malformed_file("entries in a matrix without columns");
    }
  });
}

bool NpzRows::are_rows_of(const AnyEntry& entry) const {
  if (!has_rows_ || entry.definition() || is_in_fortran_order_) return false;
  if (sizes_.block_rows * sizes_.block_columns == 1) {
    return entry.kind() == (is_complex_ ? EntryKind::complex : EntryKind::real);
  }
  const ScalarMatrix file = empty_file(sizes_, is_complex_);
  return visit_entry(entry.kind(), Precision::double_precision, [&]<class E>() {
    return detail::tiling_of_blocks(file, Tiling::automatic, E::components, tile_rows<E>,
                                    tile_columns<E>) != Tiling::automatic;
  });
}

std::vector<long long> NpzRows::entries_of_groups(Index rows_of_group) const {
  std::vector<long long> entries;
  detail::naming_file(path_, [&] {
    Member offsets(archive_, "indptr.npy");
    std::int64_t last = 0;
    const auto take = [&](std::size_t row, std::int64_t offset) {
      if (offset < last || (row == 0 && offset != 0)) {
        detail::malformed_file("member 'indptr.npy' does not grow from 0 at place " +
                               std::to_string(row));
      }
      if (row > 0) {
        if ((row - 1) % static_cast<std::size_t>(rows_of_group) == 0) entries.push_back(0);
        entries.back() += offset - last;
      }
      last = offset;
    };
    offsets.for_each_integer(0, offsets.items(), 0, std::numeric_limits<Offset>::max(), take);
    offsets.finish();
    if (last != columns_of_entries_ || entries_ != columns_of_entries_) {
      detail::malformed_file("offsets for " + std::to_string(last) + " entries, with " +
                             std::to_string(columns_of_entries_) + " columns and " +
                             std::to_string(entries_) + " values");
    }
  });
  return entries;
}

BlockMatrix NpzRows::read_blocks(Index first, Index end, const Device& device, Sums* sums) const {
  BlockMatrix matrix;
  matrix.rows = end - first;
  matrix.columns = columns();
  matrix.block_rows = sizes_.block_rows;
  matrix.block_columns = sizes_.block_columns;
  matrix.is_complex = is_complex_;
  Member offsets(archive_, "indptr.npy");
  offsets.skip(static_cast<std::size_t>(first));
  matrix.offsets = io::read_integers<Offset>(offsets, static_cast<std::size_t>(first),
                                             static_cast<std::size_t>(matrix.rows) + 1,
                                             static_cast<Offset>(entries_), device);
  const auto begin = static_cast<std::size_t>(matrix.offsets[0]);
  for (std::size_t row = 0; row < matrix.offsets.size(); ++row) {
    matrix.offsets[row] -= static_cast<Offset>(begin);
    if (row == 0 || matrix.offsets[row] >= matrix.offsets[row - 1]) continue;
    detail::malformed_file("member 'indptr.npy' does not grow from 0 at place " +
                           std::to_string(static_cast<std::size_t>(first) + row));
  }
  const auto count = static_cast<std::size_t>(matrix.offsets[matrix.offsets.size() - 1]);
  Member column(archive_, "indices.npy");
  column.skip(begin);
  matrix.column =
      io::read_integers<Index>(column, begin, count, std::max(matrix.columns - 1, 0), device);
  Member data(archive_, "data.npy");
  const int components = matrix.block_rows * matrix.block_columns * (is_complex_ ? 2 : 1);
  const auto of_entry = static_cast<std::size_t>(matrix.block_rows * matrix.block_columns);
  data.skip(begin * of_entry);
  matrix.values = io::read_numbers(data, begin * of_entry, count * of_entry, device);
  if (sums != nullptr) *sums = {column.part(), data.part()};
  const Index row =
      io::sort_and_sum_rows(matrix.offsets, matrix.column, matrix.values, components, device);
  if (row >= 0) {
    throw Error(ErrorKind::not_finite, "the sum of duplicate entries in row " +
                                           std::to_string(first + row) + " is not finite");
  }
  return matrix;
}

NpzRows::Pattern NpzRows::read_pattern(const Device& device) const {
  (void)entries_of_groups(std::max(rows(), 1));  // checks the offsets
  return detail::naming_file(path_, [&]() -> Pattern {
    Pattern pattern{rows(), columns(), {}, {}};
    Member offsets(archive_, "indptr.npy");
    pattern.offsets = io::read_all_integers<Offset>(offsets, static_cast<Offset>(entries_), device);
    Member column(archive_, "indices.npy");
    pattern.column = io::read_all_integers<Index>(column, std::max(pattern.columns - 1, 0), device);
    Array<double> none;
    io::sort_and_sum_rows(pattern.offsets, pattern.column, none, 0, device);
    return pattern;
  });
}

void NpzRows::check(const std::vector<Sums>& parts) const {
  detail::naming_file(path_, [&] {
    std::vector<io::ByteSum> column, values;
    for (const Sums& part : parts) {
      column.push_back(part.column);
      values.push_back(part.values);
    }
    Member(archive_, "indices.npy").check(column);
    Member(archive_, "data.npy").check(values);
  });
}

AnyMatrix NpzRows::read(Index first, Index end, const AnyEntry& entry, Precision precision,
                        const Device& device, Sums* sums) const {
  return detail::naming_file(path_, [&] {
    ScalarMatrix file = expand_blocks(read_blocks(first, end, device, sums), device);
    return visit_entry(entry.kind(), precision, [&]<class E>() {
      try {
        return AnyMatrix(fold<E>(std::move(file), Tiling::automatic, device));
      } catch (const Error& error) {
        if (first == 0) throw;
        throw Error(error.kind(), "in rows from block row " + std::to_string(first) +
                                      " on, counted from there: " + error.what());
      }
    });
  });
}

}  // namespace heddle
