#include "matrix_market_read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assemble.hpp"
#include "heddle/tools/team.hpp"
#include "matrix_market_text.hpp"

namespace heddle::io {

namespace {

// Entries come in any order, and scattering them over all the rows of a large matrix would miss the
// cache with each. So pieces are grouped by buckets of neighbouring rows as they are read, and the
// buckets assembled one by one.
int bucket_shift(Offset rows) {
  constexpr Offset max_buckets = 512, fewest_rows = 1024;
  int shift = 0;
  while (rows > fewest_rows && (rows >> shift) >= max_buckets) ++shift;
  return rows > fewest_rows ? shift : 31;
}
std::size_t bucket_count(const Header& header) {
  return static_cast<std::size_t>(header.rows >> bucket_shift(header.rows)) + 1;
}

void take_entries(Piece& piece, Piece& from) {
  piece.row = std::move(from.row);
  piece.column = std::move(from.column);
  piece.values = std::move(from.values);
}

/// True if scalar c of an entry changes its sign in the other triangle.
bool is_negated(const Header& header, std::size_t c) {
  return header.symmetry == Symmetry::skew_symmetric ||
         (header.symmetry == Symmetry::hermitian && c == 1);
}

/// Adds the other triangle, each entry after the one that it mirrors.
void add_mirrored(const Header& header, Piece& piece) {
  const std::size_t size = piece.row.size();
  const auto scalars = static_cast<std::size_t>(header.scalars());
  Piece full;
  full.row.reserve(2 * size);
  full.column.reserve(2 * size);
  full.values.reserve(2 * size * scalars);
  for (std::size_t k = 0; k < size; ++k) {
    const Index row = piece.row[k], column = piece.column[k];
    const double* value = piece.values.data() + k * scalars;
    full.row.push_back(row);
    full.column.push_back(column);
    full.values.insert(full.values.end(), value, value + scalars);
    if (row == column) continue;
    full.row.push_back(column);
    full.column.push_back(row);
    for (std::size_t c = 0; c < scalars; ++c) {
      full.values.push_back(is_negated(header, c) ? -value[c] : value[c]);
    }
  }
  take_entries(piece, full);
}

/// A stable counting sort by bucket, of the entries of both triangles.
void group_by_rows(const Header& header, Piece& piece) {
  if (header.symmetry != Symmetry::general) add_mirrored(header, piece);
  const int shift = bucket_shift(header.rows);
  const auto scalars = static_cast<std::size_t>(header.scalars());
  auto& begin = piece.bucket_begin;
  begin.assign(bucket_count(header) + 1, 0);
  for (const Index row : piece.row) ++begin[static_cast<std::size_t>(row >> shift) + 1];
  for (std::size_t b = 1; b < begin.size(); ++b) begin[b] += begin[b - 1];
  const auto bucket_is_later = [&](Index a, Index b) { return a >> shift > b >> shift; };
  if (std::adjacent_find(piece.row.begin(), piece.row.end(), bucket_is_later) == piece.row.end()) {
    return;
  }
  Piece grouped;
  grouped.row.resize(piece.row.size());
  grouped.column.resize(piece.row.size());
  grouped.values.resize(piece.values.size());
  std::vector<std::uint32_t> next = begin;
  for (std::size_t k = 0; k < piece.row.size(); ++k) {
    const std::size_t to = next[static_cast<std::size_t>(piece.row[k] >> shift)]++;
    grouped.row[to] = piece.row[k];
    grouped.column[to] = piece.column[k];
    for (std::size_t c = 0; c < scalars; ++c) {
      grouped.values[to * scalars + c] = piece.values[k * scalars + c];
    }
  }
  take_entries(piece, grouped);
}

void check_array_diagonal(const std::string& name, const Header& header, const ArrayWalk& at,
                          const double* value) {
  if (header.symmetry != Symmetry::hermitian || at.row() != at.column() || value[1] == 0) return;
  detail::malformed_file(name + ": the diagonal entry in row " + std::to_string(at.row() + 1) +
                         " has an imaginary part in a hermitian file");
}

/// The numbers of an array that are not zero, with their places.
void place_array(const std::string& name, MatrixMarketText& text) {
  const Header& header = text.header;
  const auto scalars = static_cast<std::size_t>(header.scalars());
  ArrayWalk walk(header);
  for (Piece& piece : text.pieces) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(piece.entries); ++k, walk.next()) {
      const double* const value = piece.values.data() + k * scalars;
      check_array_diagonal(name, header, walk, value);
      if (value[0] == 0 && value[scalars - 1] == 0) continue;
      piece.row.push_back(static_cast<Index>(walk.row()));
      piece.column.push_back(static_cast<Index>(walk.column()));
      std::copy_n(value, scalars, piece.values.data() + kept++ * scalars);
    }
    piece.values.resize(kept * scalars);
  }
}

void accept(const Header&) {}

void check_matrix_sizes(const Header& header) {
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (header.rows > most) {
    detail::malformed_file(std::to_string(header.rows) + " rows are too many; at most " +
                           std::to_string(most) + " are possible");
  }
}

/// The work of a thread on the entries of a coordinate file; an array's have no places yet.
void group_if_placed(const Header& header, Piece& piece) {
  if (!header.is_array) group_by_rows(header, piece);
}

void check_spare(const std::string& name, const Header& header, Offset promised, const char* what,
                 Offset spare) {
  constexpr Offset spare_an_entry = 16;
  if (promised <= spare + spare_an_entry * header.entries) return;
  detail::malformed_file(name + ":" + std::to_string(header.lines) + ": " +
                         std::to_string(promised) + " " + what + " for " +
                         std::to_string(header.entries) + " entries; nearly all would be empty");
}

[[noreturn]] void refuse_sum(const std::string& name, Offset row) {
  throw Error(ErrorKind::not_finite, name + ": the sum of duplicate entries in row " +
                                         std::to_string(row + 1) + " is not finite");
}

template <class E>
CsrMatrix<E> assemble(const std::string& name, const MatrixMarketText& text, const Device& device) {
  const Header& header = text.header;
  const auto rows = static_cast<Index>(header.rows);
  const bool is_pattern = header.field == NumberField::pattern;
  const std::size_t buckets = bucket_count(header);
  const int shift = bucket_shift(rows);
  std::vector<Offset> bucket_begin(buckets + 1);
  for (const Piece& piece : text.pieces) {
    for (std::size_t b = 0; b < buckets; ++b) {
      bucket_begin[b + 1] += piece.bucket_begin[b + 1] - piece.bucket_begin[b];
    }
  }
  for (std::size_t b = 0; b < buckets; ++b) bucket_begin[b + 1] += bucket_begin[b];

  const auto size = static_cast<std::size_t>(bucket_begin[buckets]);
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, device);
  Array<Index> column(size, device);
  Array<double> values(size * E::components, device);
  const int team = team_size(device.stream(), bucket_begin[buckets] + rows);
  parallel_shares(team, buckets, 1, [&](auto&& for_each) {
    std::vector<Offset> next;  // place of each row of the bucket
    for_each([&](std::size_t b) {
      const Offset first_row = Offset(b) << shift;
      const Offset last_row = std::min(Offset(rows), first_row + (Offset(1) << shift));
      next.assign(static_cast<std::size_t>(std::max(last_row - first_row, Offset(0))) + 1, 0);
      for (const Piece& piece : text.pieces) {
        for (std::size_t k = piece.bucket_begin[b]; k < piece.bucket_begin[b + 1]; ++k) {
          ++next[static_cast<std::size_t>(piece.row[k] - first_row) + 1];
        }
      }
      next[0] = bucket_begin[b];
      for (std::size_t row = 1; row < next.size(); ++row) {
        next[row] += next[row - 1];
        offsets[static_cast<std::size_t>(first_row) + row] = next[row];
      }
      for (const Piece& piece : text.pieces) {
        for (std::size_t k = piece.bucket_begin[b]; k < piece.bucket_begin[b + 1]; ++k) {
          const auto to =
              static_cast<std::size_t>(next[static_cast<std::size_t>(piece.row[k] - first_row)]++);
          column[to] = piece.column[k];
          for (std::size_t c = 0; c < E::components; ++c) {
            values[to * E::components + c] = is_pattern ? 1.0 : piece.values[k * E::components + c];
          }
        }
      }
    });
  });
  const Index row = sort_and_sum_rows(offsets, column, values, E::components, device);
  if (row >= 0) refuse_sum(name, row);
  return CsrMatrix<E>(rows, static_cast<Index>(header.columns), std::move(offsets),
                      std::move(column), std::move(values));
}

}  // namespace

ScalarMatrix read_matrix_market(const std::string& name, std::unique_ptr<ByteSource> source,
                                const Device& device, Progress* progress,
                                const ReadLimits& limits) {
  MatrixMarketText text = read_text(name, std::move(source), device.threads(), progress,
                                    {check_matrix_sizes, group_if_placed}, limits.block_bytes);
  if (text.header.is_array) {
    place_array(name, text);
    for (Piece& piece : text.pieces) group_by_rows(text.header, piece);
  }
  check_spare(name, text.header, text.header.rows, "rows", limits.spare);
  if (progress != nullptr) progress->report(-1, "assembling");
  ScalarMatrix read;
  if (text.header.is_complex()) {
    read.matrix = assemble<complex<double>>(name, text, device);
  } else {
    read.matrix = assemble<real<double>>(name, text, device);
  }
  read.block_rows = text.header.tile_rows;
  read.block_columns = text.header.tile_columns;
  return read;
}

ScalarField read_matrix_market_field(const std::string& name, std::unique_ptr<ByteSource> source,
                                     const Device& device, Progress* progress,
                                     const ReadLimits& limits) {
  const MatrixMarketText text =
      read_text(name, std::move(source), device.threads(), progress,
                {accept, [](const Header&, Piece&) {}}, limits.block_bytes);
  const Header& header = text.header;
  const Offset rows = header.rows, columns = header.columns;
  if (!header.is_array) {  // no overflow: both are below 2^31
    check_spare(name, header, rows * columns, "numbers", limits.spare);
  }
  const int scalars = header.is_complex() ? 2 : 1;
  ScalarField field{rows, columns, header.is_complex(),
                    Array<double>(static_cast<std::size_t>(rows * columns * scalars), device)};
  const auto add = [&](Offset row, Offset column, const double* value, bool is_mirrored) {
    double* const to = field.values.data() + (row * columns + column) * scalars;
    for (std::size_t c = 0; c < static_cast<std::size_t>(scalars); ++c) {
      to[c] += is_mirrored && is_negated(header, c) ? -value[c] : value[c];
      if (!std::isfinite(to[c])) refuse_sum(name, row);
    }
  };
  ArrayWalk walk(header);
  const double one = 1;
  for (const Piece& piece : text.pieces) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(piece.entries); ++k) {
      const Offset row = header.is_array ? walk.row() : piece.row[k];
      const Offset column = header.is_array ? walk.column() : piece.column[k];
      const double* const value = header.field == NumberField::pattern
                                      ? &one
                                      : piece.values.data() + k * static_cast<std::size_t>(scalars);
      if (header.is_array) {
        check_array_diagonal(name, header, walk, value);
        walk.next();
      }
      add(row, column, value, false);
      if (header.symmetry != Symmetry::general && row != column) add(column, row, value, true);
    }
  }
  return field;
}

}  // namespace heddle::io
