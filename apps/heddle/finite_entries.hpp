// Files must contain only finite numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"

namespace heddle::cli {

/// Throws `Error` (not_finite) that begins with `what` and names the first such place of the
/// matrix, a `CsrMatrix` or `DefinedMatrix`.
template <class Matrix>
void check_finite(const Matrix& matrix, const char* what) {
  const auto& values = matrix.values();
  const auto at =
      std::find_if(values.begin(), values.end(), [](auto value) { return !std::isfinite(value); });
  if (at == values.end()) return;
  const auto components = static_cast<Offset>(values.size()) / matrix.entries();
  const Offset entry = (at - values.begin()) / components;
  const auto& offsets = matrix.offsets();
  const auto row = std::upper_bound(offsets.begin(), offsets.end(), entry) - offsets.begin() - 1;
  throw Error(ErrorKind::not_finite,
              std::string(what) + " is not finite in row " + std::to_string(row) + ", column " +
                  std::to_string(matrix.column()[static_cast<std::size_t>(entry)]) +
                  ", counted from 0");
}

}  // namespace heddle::cli
