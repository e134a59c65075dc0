// Copies of a matrix that hold its entries exactly in fewer bytes.
#pragma once

#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::detail {

/// A copy by `iteration-precision=`, which the matrix admits if `why_not` is empty.
struct ExactCopy {
  std::string precision;
  std::string why_not;
  double bytes = 0;  // per entry, with its column and its share of a table
  double full = 0;   // the same for the matrix itself
};

/// Copies by the encodings that suit the matrix's entries, tried in compressed rows.
std::vector<ExactCopy> exact_copies(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::detail
