// Whether a matrix has copies that hold its entries themselves in fewer bytes.
#pragma once

#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::detail {

/// A copy by `iteration-precision=`, which the matrix admits where `why_not` is empty.
struct ExactCopy {
  std::string precision;
  std::string why_not;
  double bytes = 0;  // an entry, with its column and its part of a table
  double full = 0;   // the same of the matrix
};

/// Of the encodings that are for such entries; tried in compressed rows.
std::vector<ExactCopy> exact_copies(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::detail
