// The text of a Matrix Market file as header and pieces, which the readers assemble.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "line_blocks.hpp"
#include "matrix_market_header.hpp"

namespace heddle::io {

/// An error, and its line in its block, from 1.
struct LineFault {
  Error error;
  long long line;
};

/// The entries of one block of lines, in the order of the text, up to the first fault. A coordinate
/// file has row and column from 0, and one or two scalars each (none for a pattern); an array has
/// only the scalars.
struct Piece {
  long long sequence = 0;
  long long lines = 0;
  long long entries = 0;  // lines that hold an entry
  std::vector<Index> row, column;
  std::vector<double> values;
  /// Neighbouring lines without an entry: the first of them, and their number.
  std::vector<std::pair<long long, long long>> lines_without_entry;
  // The first entries below and above the diagonal, if the symmetry makes them matter.
  long long first_lower = -1, first_upper = -1;
  // The begin of the entries of each bucket of rows, in a piece that `prepare` grouped.
  std::vector<std::uint32_t> bucket_begin;
  std::optional<LineFault> fault;
};

struct MatrixMarketText {
  Header header;
  std::vector<Piece> pieces;  // in the order of the text
};

/// The steps that a kind of contents adds to reading a text.
struct Contents {
  /// Throws `Error`, without a place, for a banner that it cannot take.
  void (*check)(const Header& header);
  /// Called by the thread that read a piece, while it is in its cache.
  void (*prepare)(const Header& header, Piece& piece);
};

/// Reads the whole text with up to `threads` threads. Throws `Error` with "name:line: " in front
/// for the first line that is wrong, or if the number of entries is not the promised one.
MatrixMarketText read_text(const std::string& name, std::unique_ptr<ByteSource> source, int threads,
                           Progress* progress, const Contents& contents,
                           std::size_t block_bytes = std::size_t(1) << 19);

}  // namespace heddle::io
