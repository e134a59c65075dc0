// The reference for a plan's product before it may be timed.
#pragma once

#include <vector>

#include "heddle/runtime/any_solver.hpp"

namespace heddle {

/// y = A x on the host: rows as given, entry after entry, in double whatever the matrix is stored
/// in. Components of all rows, in the user's order.
std::vector<double> reference_product(const AnyMatrix& matrix, const AnyField& x);

/// The components of all rows.
std::vector<double> numbers_of(const AnyField& field);

/// |y - reference| / |reference|, 2-norms; |y| for a zero reference. NaN if y contains one.
double relative_difference(const AnyField& y, const std::vector<double>& reference);

}  // namespace heddle
