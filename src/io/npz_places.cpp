#include "npz_places.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "heddle/error.hpp"

namespace heddle::io {

namespace {

/// Entries in any order, complex numbers as two scalars.
struct Places {
  Array<Index> row, column;
  Array<double> values;
};

BlockMatrix rows_of(const BlockSizes& sizes, bool is_complex, const Places& places,
                    const Device& device) {
  const std::size_t scalars = is_complex ? 2 : 1, entries = places.row.size();
  BlockMatrix matrix{static_cast<Index>(sizes.rows),
                     static_cast<Index>(sizes.columns),
                     1,
                     1,
                     is_complex,
                     Array<Offset>(static_cast<std::size_t>(sizes.rows) + 1, device),
                     Array<Index>(entries, device),
                     Array<double>(entries * scalars, device)};
  auto& offsets = matrix.offsets;
  for (const Index row : places.row) ++offsets[static_cast<std::size_t>(row) + 1];
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  std::vector<Offset> next(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < entries; ++i) {
    const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(places.row[i])]++);
    matrix.column[to] = places.column[i];
    std::copy_n(places.values.data() + i * scalars, scalars, matrix.values.data() + to * scalars);
  }
  return matrix;
}

Index last_of(std::int64_t count) {
  return static_cast<Index>(std::max<std::int64_t>(count - 1, 0));
}

void check_has_places(const BlockSizes& sizes, std::size_t entries) {
  if (entries == 0 || (sizes.rows > 0 && sizes.columns > 0)) return;
  detail::malformed_file("entries in a matrix without rows or columns");
}

Places read_columns(const Archive& archive, Member& data, const BlockSizes& sizes,
                    const Device& device) {
  Member offsets(archive, "indptr.npy"), row(archive, "indices.npy");
  check_offset_count(offsets, sizes.columns, "columns");
  const auto begin = read_all_integers<Offset>(offsets, std::numeric_limits<Offset>::max(), device);
  check_offsets(begin, row.items(), data.header().shape[0]);
  check_has_places(sizes, row.items());
  Places places{read_all_integers<Index>(row, last_of(sizes.rows), device),
                Array<Index>(row.items(), device),
                {}};
  for (std::size_t column = 0; column + 1 < begin.size(); ++column) {
    std::fill(places.column.data() + begin[column], places.column.data() + begin[column + 1],
              static_cast<Index>(column));
  }
  places.values = read_numbers(data, 0, data.items(), device);
  data.finish();
  return places;
}

Places read_triplets(const Archive& archive, Member& data, const BlockSizes& sizes,
                     const Device& device) {
  Member row(archive, "row.npy"), column(archive, "col.npy");
  if (row.items() != data.items() || column.items() != data.items()) {
    detail::malformed_file(std::to_string(row.items()) + " rows and " +
                           std::to_string(column.items()) + " columns for " +
                           std::to_string(data.items()) + " values");
  }
  check_has_places(sizes, data.items());
  Places places{read_all_integers<Index>(row, last_of(sizes.rows), device),
                read_all_integers<Index>(column, last_of(sizes.columns), device),
                read_numbers(data, 0, data.items(), device)};
  data.finish();
  return places;
}

/// Column minus row of each diagonal.
std::vector<std::int64_t> read_diagonals(const Archive& archive, const NpyHeader& data) {
  Member member(archive, "offsets.npy");
  if (member.items() != static_cast<std::size_t>(data.shape[0])) {
    detail::malformed_file("member 'offsets.npy' names " + std::to_string(member.items()) +
                           " diagonals, and 'data.npy' has " + std::to_string(data.shape[0]));
  }
  std::vector<std::int64_t> diagonals(member.items());
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  member.for_each_integer(0, diagonals.size(), -most, most,
                          [&](std::size_t i, std::int64_t value) { diagonals[i] = value; });
  member.finish();
  std::vector<std::int64_t> sorted = diagonals;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    detail::malformed_file("member 'offsets.npy' names diagonal " + std::to_string(*twice) +
                           " twice");
  }
  return diagonals;
}

/// A number of 'data.npy' stands in the row of its diagonal and in the column of the matrix.
Places read_diagonals_as_places(const Archive& archive, Member& data, const BlockSizes& sizes,
                                const Device& device) {
  const NpyHeader& header = data.header();
  const std::vector<std::int64_t> diagonals = read_diagonals(archive, header);
  const Array<double> numbers = read_numbers(data, 0, data.items(), device);
  data.finish();
  const std::size_t scalars = header.is_complex() ? 2 : 1;
  const auto count = static_cast<std::size_t>(header.shape[0]);
  const auto length = static_cast<std::size_t>(header.shape[1]);
  const auto for_each_entry = [&](const auto& f) {
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = 0; j < std::min(length, static_cast<std::size_t>(sizes.columns)); ++j) {
        const std::int64_t row = static_cast<std::int64_t>(j) - diagonals[k];
        const double* const value =
            numbers.data() + (header.fortran_order ? k + count * j : k * length + j) * scalars;
        const bool is_zero = value[0] == 0 && value[scalars - 1] == 0;
        if (row >= 0 && row < sizes.rows && !is_zero) f(row, j, value);
      }
    }
  };
  std::size_t entries = 0;
  for_each_entry([&](std::int64_t, std::size_t, const double*) { ++entries; });
  Places places{Array<Index>(entries, device), Array<Index>(entries, device),
                Array<double>(entries * scalars, device)};
  std::size_t to = 0;
  for_each_entry([&](std::int64_t row, std::size_t column, const double* value) {
    places.row[to] = static_cast<Index>(row);
    places.column[to] = static_cast<Index>(column);
    std::copy_n(value, scalars, places.values.data() + to++ * scalars);
  });
  return places;
}

}  // namespace

BlockMatrix read_places(const Archive& archive, const std::string& format, const Device& device,
                        Progress* progress) {
  if (progress != nullptr) progress->report(0, "reading");
  Member data(archive, "data.npy");
  const BlockSizes sizes = read_sizes(archive, data.header(), format);
  const auto read = format == "csc"   ? read_columns
                    : format == "coo" ? read_triplets
                                      : read_diagonals_as_places;
  const Places places = read(archive, data, sizes, device);
  if (progress != nullptr) progress->report(-1, "assembling");
  return rows_of(sizes, data.header().is_complex(), places, device);
}

}  // namespace heddle::io
