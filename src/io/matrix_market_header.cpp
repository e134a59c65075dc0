#include "matrix_market_header.hpp"

#include <algorithm>
#include <limits>

#include "heddle/tools/text.hpp"

namespace heddle::io {

namespace {

constexpr std::string_view banner_form =
    "%%MatrixMarket matrix coordinate|array real|complex|integer|unsigned-integer|pattern "
    "general|symmetric|skew-symmetric|hermitian";

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// The place of `word` among `names`, or an error that lists them.
template <std::size_t N>
std::size_t choose(std::string_view word, const char* what,
                   const std::array<std::string_view, N>& names) {
  const auto found = std::find(names.begin(), names.end(), lower_case(word));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  detail::malformed_file("unknown " + std::string(what) + " " + in_quotes(word) +
                         ", known are: " + known);
}

Header read_banner(std::string_view line) {
  const std::vector<std::string_view> words = split(line);
  if (words.empty() || lower_case(words[0]) != "%%matrixmarket" || words.size() != 5) {
    if (line.starts_with("\x93NUMPY")) {
      detail::malformed_file(
          "a NumPy array; write a matrix by scipy.io.mmwrite or scipy.sparse.save_npz");
    }
    detail::malformed_file("no Matrix Market banner; the first line must be '" +
                           std::string(banner_form) + "'");
  }
  Header header;
  choose<1>(words[1], "object", {"matrix"});
  header.is_array = choose<2>(words[2], "format", {"coordinate", "array"}) == 1;
  header.field = static_cast<NumberField>(
      choose<5>(words[3], "field", {"real", "integer", "complex", "pattern", "unsigned-integer"}));
  header.symmetry = static_cast<Symmetry>(choose<4>(words[4], "symmetry", symmetry_names));
  if (header.is_array && header.field == NumberField::pattern)
    detail::malformed_file("an array has no pattern");
  if (header.symmetry == Symmetry::hermitian && !header.is_complex()) {
    header.symmetry = Symmetry::symmetric;  // without imaginary parts they are the same
  }
  if (header.symmetry == Symmetry::skew_symmetric && header.field == NumberField::pattern) {
    detail::malformed_file("a pattern has no signs and cannot be skew-symmetric");
  }
  return header;
}

Offset read_size(std::string_view word, const char* what, Offset largest) {
  const std::string text = std::string(word) + '\n';
  if (!std::all_of(word.begin(), word.end(), is_digit)) {
    detail::malformed_file(in_quotes(word) + " is not a number of " + what);
  }
  Offset size = 0;
  if (read_index(text.data(), size) == nullptr || size > largest) {
    detail::malformed_file(in_quotes(word) + " " + what + " are too many; at most " +
                           std::to_string(largest) + " are possible");
  }
  return size;
}

void read_sizes(std::string_view line, Header& header) {
  constexpr Offset max_indices = std::numeric_limits<Index>::max(), max_lines = 9999999999;
  const std::vector<std::string_view> words = split(line);
  const std::size_t needed = header.is_array ? 2 : 3;
  if (words.size() != needed) {
    detail::malformed_file("a size line of " + std::to_string(words.size()) + " fields where " +
                           std::to_string(needed) + " are needed (rows columns" +
                           (header.is_array ? ")" : " entries)"));
  }
  header.rows = read_size(words[0], "rows", header.is_array ? max_lines : max_indices);
  header.columns = read_size(words[1], "columns", max_indices);
  if (!header.is_array) {
    header.entries = read_size(words[2], "entries", max_lines);
  } else if (__builtin_mul_overflow(header.rows, header.columns, &header.entries)) {
    detail::malformed_file("an array of " + std::to_string(header.rows) + " rows and " +
                           std::to_string(header.columns) + " columns is too large");
  }
  if (header.symmetry != Symmetry::general && header.rows != header.columns) {
    detail::malformed_file("a " +
                           std::string(symmetry_names[static_cast<std::size_t>(header.symmetry)]) +
                           " matrix must be square, not " + std::to_string(header.rows) + " by " +
                           std::to_string(header.columns));
  }
  if (header.is_array && header.symmetry != Symmetry::general) {
    const bool has_diagonal = header.symmetry != Symmetry::skew_symmetric;
    header.entries = (header.entries + (has_diagonal ? header.rows : -header.rows)) / 2;
  }
  if (header.rows % header.tile_rows != 0 || header.columns % header.tile_columns != 0) {
    detail::malformed_file("a size of " + std::to_string(header.rows) + " by " +
                           std::to_string(header.columns) + " that tiles of " +
                           std::to_string(header.tile_rows) + " by " +
                           std::to_string(header.tile_columns) + " do not divide");
  }
}

/// Reads a comment line that begins with `tiles_tag`.
void read_tiles(std::string_view line, Header& header) {
  constexpr Offset largest = 1024;
  const std::vector<std::string_view> words = split(line);
  const auto size = [&](std::size_t word) {
    Offset found = 0;
    const std::string text = std::string(words[word]) + '\n';
    const char* const end = read_index(text.data(), found);
    return end == text.data() + words[word].size() && found >= 1 && found <= largest ? found : 0;
  };
  if (words.size() != 5 || words[3] != "x" || size(2) == 0 || size(4) == 0) {
    detail::malformed_file(in_quotes(line) + " is not '" + std::string(tiles_tag) +
                           "R x C' of 1 to " + std::to_string(largest) + " numbers each");
  }
  header.tile_rows = static_cast<int>(size(2));
  header.tile_columns = static_cast<int>(size(4));
}

}  // namespace

std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text = "'";
  for (const char c : word.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > longest ? "...'" : "'");
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool HeaderReader::take(std::string_view line) {
  ++header_.lines;
  if (header_.lines == 1) {
    header_ = read_banner(line);
    header_.lines = 1;
    return false;
  }
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (line.starts_with(tiles_tag)) read_tiles(line, header_);
  if (first == std::string_view::npos || line[first] == '%') return false;
  read_sizes(line, header_);
  return true;
}

void HeaderReader::end_of_text() {
  if (header_.lines > 0) detail::malformed_file("the file ends before its size line");
  header_.lines = 1;
  detail::malformed_file("the file is empty; its first line must be '" + std::string(banner_form) +
                         "'");
}

}  // namespace heddle::io
