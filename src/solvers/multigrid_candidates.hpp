// What options say of a multigrid, as its constructor takes it.
#pragma once

#include <vector>

#include "heddle/multigrid.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle::detail {

inline MultigridOptions multigrid_options(int degree, const MultigridChoice& choice) {
  return {.cycle = choice.cycle,
          .smoother = choice.smoother,
          .interpolation = choice.interpolation,
          .degree = degree,
          .strength = choice.strength};
}

/// In the order of the user's rows; none for the constants. Throws `Error` as
/// `adaptive_candidates`; unsupported for points of other entries than real blocks.
template <class S>
std::vector<std::vector<S>> candidate_fields(const SlicedOperator<S>& matrix,
                                             const MultigridOptions& options,
                                             const MultigridChoice& choice) {
  const int dimension = matrix.row_components();
  std::vector<std::vector<S>> fields;
  if (choice.points) {
    if (matrix.ring() != Ring::real || (dimension != 2 && dimension != 3)) {
      throw Error(ErrorKind::unsupported,
                  "the motions of a rigid body are candidates over real blocks of 2 x 2 or 3 x 3");
    }
    fields = rigid_body_modes<S>(*choice.points, dimension);
  } else if (choice.candidates) {
    for (const auto& given : *choice.candidates) fields.emplace_back(given.begin(), given.end());
  } else if (choice.is_adaptive) {
    fields = adaptive_candidates<S>(matrix, 0, options);
  }
  return fields;
}

template <class S>
std::vector<FieldView<const S>> candidate_views(const SlicedOperator<S>& matrix,
                                                const std::vector<std::vector<S>>& fields) {
  const int components = matrix.row_components();
  std::vector<FieldView<const S>> views;
  for (const std::vector<S>& field : fields) {
    const auto rows = static_cast<Index>(field.size() / static_cast<std::size_t>(components));
    views.emplace_back(field.data(), rows, components);
  }
  return views;
}

}  // namespace heddle::detail
