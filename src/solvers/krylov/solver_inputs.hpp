// The things that a solver was made from, and memory for its sums: its parts share them.
#pragma once

#include <memory>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/detail/host_method.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

template <class S>
inline constexpr bool may_be_on_gpu = has_cuda && !std::is_same_v<S, long double>;

template <class S>
struct SolverInputs {
  const OperatorReference<S> reference;
  const std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  SolverOptions options;
  const MethodOver<S> method;
  const LinearOperator<S>& matrix = *reference;
  const Device device = matrix.device();
  const Stream stream = device.stream();
  mutable Reduction<S> reduction{matrix.rows(), device};
  const Ring ring = matrix.ring();  // ring of the null space's coefficients

  /// The number of scalars of a field, on all ranks that share its rows.
  long long all_scalars() const {
    return all_rows(matrix.rows(), stream) * matrix.row_components();
  }
};

}  // namespace heddle::detail
