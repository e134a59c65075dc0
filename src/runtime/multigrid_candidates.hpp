// The options and candidates of a multigrid, as its constructor takes them.
#pragma once

#include <algorithm>
#include <vector>

#include "heddle/multigrid.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle::detail {

inline MultigridOptions multigrid_options(int degree, const MultigridChoice& choice) {
  return {.cycle = choice.cycle,
          .smoother = choice.smoother,
          .interpolation = choice.interpolation,
          .degree = degree,
          .strength = choice.strength,
          .estimates_again = choice.estimates_again,
          .level_precision = choice.level_precision};
}

/// Candidates in the order of the user's rows, on the host or the matrix's device; none stands for
/// the constants. Throws `Error` like `adaptive_candidates`; unsupported for points with entries
/// other than real blocks.
template <class S>
std::vector<Array<S>> candidate_fields(const SlicedOperator<S>& matrix,
                                       const MultigridOptions& options,
                                       const MultigridChoice& choice) {
  const int dimension = matrix.row_components();
  std::vector<Array<S>> fields;
  if (choice.points) {
    if (matrix.ring() != Ring::real || (dimension != 2 && dimension != 3)) {
      throw Error(ErrorKind::unsupported,
                  "rigid body motions are candidates only for real blocks of 2 x 2 or 3 x 3");
    }
    return rigid_body_modes<S>(*choice.points, dimension, matrix.device());
  }
  const auto take = [&](const auto& given) {
    fields.emplace_back(given.size());
    std::copy(given.begin(), given.end(), fields.back().data());
  };
  if (choice.candidates) {
    for (const auto& given : *choice.candidates) take(given);
  } else if (choice.is_adaptive) {
    for (const auto& found : adaptive_candidates<S>(matrix, 0, options)) take(found);
  }
  return fields;
}

template <class S>
std::vector<FieldView<const S>> candidate_views(const SlicedOperator<S>& matrix,
                                                const std::vector<Array<S>>& fields) {
  const int components = matrix.row_components();
  std::vector<FieldView<const S>> views;
  for (const Array<S>& field : fields) {
    const auto rows = static_cast<Index>(field.size() / static_cast<std::size_t>(components));
    views.emplace_back(field.data(), rows, components);
  }
  return views;
}

}  // namespace heddle::detail
