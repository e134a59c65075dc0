#include "matrix_market_line.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::io {

namespace {

[[noreturn]] void fault(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

void explain_index(std::string_view word, const char* what, Offset most) {
  const std::size_t sign = !word.empty() && word[0] == '-' ? 1 : 0;
  if (word.size() == sign || !std::all_of(word.begin() + sign, word.end(), is_digit)) {
    fault(ErrorKind::malformed_file, in_quotes(word) + " is not a " + what + " number");
  }
  Offset index = 0;
  const std::string text = std::string(word) + '\n';
  if (sign == 1 || read_index(text.data(), index) == nullptr || index < 1 || index > most) {
    fault(ErrorKind::malformed_file,
          std::string(what) + " " + in_quotes(word) + " is outside 1 to " + std::to_string(most));
  }
}

void explain_number(std::string_view word, NumberField field) {
  const bool must_be_integer =
      field == NumberField::integer || field == NumberField::unsigned_integer;
  const std::string text = std::string(word) + '\n';
  const char* const end = text.data() + text.size();
  double value = 0;
  if (read_double(text.data(), end, value) == end - 1) {
    if (!std::isfinite(value)) fault(ErrorKind::not_finite, "non-finite value " + in_quotes(word));
    if (must_be_integer && value != std::trunc(value)) {
      fault(ErrorKind::malformed_file,
            in_quotes(word) + " is not an integer, contrary to the banner");
    }
    if (field == NumberField::unsigned_integer && value < 0) {
      fault(ErrorKind::malformed_file, in_quotes(word) + " has a sign, contrary to the banner");
    }
    return;
  }
  std::string name = text.substr(text[0] == '+' || text[0] == '-' ? 1 : 0, 3);
  for (char& c : name) c = static_cast<char>(c | 0x20);
  if (name == "nan" || name == "inf") {
    fault(ErrorKind::not_finite, "non-finite value " + in_quotes(word));
  }
  fault(ErrorKind::malformed_file, in_quotes(word) + " is not a number");
}

}  // namespace

void explain_line(std::string_view line, const Header& header) {
  const int scalars = header.scalars();
  const std::vector<std::string_view> words = split(line);
  const std::size_t indices = header.is_array ? 0 : 2;
  const std::size_t needed = indices + static_cast<std::size_t>(scalars);
  if (words.size() != needed) {
    std::string form = header.is_array ? "" : "row column ";
    form += scalars == 2 ? "real-part imaginary-part " : scalars == 1 ? "value " : "";
    form.pop_back();
    fault(ErrorKind::malformed_file,
          std::to_string(words.size()) + (words.size() == 1 ? " field" : " fields") + " where " +
              std::to_string(needed) + (needed == 1 ? " is" : " are") + " needed (" + form + ")");
  }
  if (!header.is_array) {
    explain_index(words[0], "row", header.rows);
    explain_index(words[1], "column", header.columns);
  }
  for (std::size_t k = indices; k < needed; ++k) {
    explain_number(words[k], header.field);
  }
  fault(ErrorKind::malformed_file,
        header.symmetry == Symmetry::hermitian
            ? "a diagonal entry with an imaginary part in a hermitian file"
            : "a diagonal entry that is not zero in a skew-symmetric file");
}

}  // namespace heddle::io
