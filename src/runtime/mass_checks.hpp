// Requirements on the mass of a matrix.
#pragma once

#include <string>

#include "heddle/error.hpp"

namespace heddle::detail {

/// Throws `Error` (size_mismatch) unless the mass is a matrix of the same kind.
template <class Matrix, class Mass>
void check_mass(const Matrix& matrix, const Mass& mass) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::size_mismatch, "the mass " + why);
  };
  if (mass.entry().name() != matrix.entry().name()) {
    refuse("has entries " + std::string(mass.entry().name()) + ", the matrix " +
           std::string(matrix.entry().name()));
  }
  if (mass.precision() != matrix.precision()) refuse("differs in precision from the matrix");
  if (mass.rows() != matrix.rows() || mass.columns() != matrix.columns()) {
    refuse("is " + std::to_string(mass.rows()) + " x " + std::to_string(mass.columns()) +
           ", the matrix " + std::to_string(matrix.rows()) + " x " +
           std::to_string(matrix.columns()));
  }
}

}  // namespace heddle::detail
