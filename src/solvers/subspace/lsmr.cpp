#include "heddle/lsmr.hpp"

#include <cmath>
#include <string>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "base/text/readable.hpp"
#include "lsmr_loop.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle {

namespace lsmr {
namespace {

template <class S>
void resolve(LeastSquaresOptions& options) {
  heddle::detail::resolve_limits<S>(options, "least squares");
  if (!(options.damping >= 0) || !std::isfinite(options.damping)) {
    throw Error(ErrorKind::usage, "least squares: the damping is a finite number, 0 or more");
  }
}

template <class S>
void check_adjoint(const LinearOperator<S>& A, const LinearOperator<S>& adjoint) {
  if (adjoint.rows() != A.columns() || adjoint.columns() != A.rows() ||
      adjoint.row_components() != A.column_components() ||
      adjoint.column_components() != A.row_components()) {
    throw Error(ErrorKind::size_mismatch,
                "least squares: the adjoint of an operator of " + std::to_string(A.rows()) + " x " +
                    std::to_string(A.columns()) + " with " + std::to_string(A.row_components()) +
                    " x " + std::to_string(A.column_components()) + " components has " +
                    std::to_string(adjoint.rows()) + " x " + std::to_string(adjoint.columns()) +
                    " with " + std::to_string(adjoint.row_components()) + " x " +
                    std::to_string(adjoint.column_components()));
  }
  if (!detail::in_basis(adjoint.row_basis(), A.column_basis()) ||
      !detail::in_basis(adjoint.column_basis(), A.row_basis()) ||
      adjoint.vector_layout() != A.vector_layout()) {
    throw Error(ErrorKind::size_mismatch,
                "least squares: the adjoint has different bases or another vector layout than the "
                "operator");
  }
  if (adjoint.device().stream().gpu != A.device().stream().gpu) {
    throw Error(ErrorKind::usage, "least squares: operator and adjoint are on different devices");
  }
}

template <class S>
long long check_memory(const LinearOperator<S>& A, const LeastSquaresOptions& options) {
  constexpr auto scalar = static_cast<long long>(sizeof(S));
  const long long row = scalar * A.rows() * A.row_components(),
                  column = scalar * A.columns() * A.column_components();
  const long long needed =
      detail::LsmrLoop<S>::row_fields * row + detail::LsmrLoop<S>::column_fields(options) * column;
  const long long available = available_memory_for(needed, A.device());
  if (needed > available) {
    throw Error(ErrorKind::memory, "LSMR needs " + readable_bytes(needed) +
                                       " of fields besides the matrix and its adjoint, available "
                                       "are " +
                                       readable_bytes(available));
  }
  return needed;
}

template <class S>
std::unique_ptr<detail::LsmrLoop<S>> make_loop(OperatorReference<S> matrix,
                                               OperatorReference<S> adjoint,
                                               LeastSquaresOptions options) {
  resolve<S>(options);
  check_adjoint(*matrix, *adjoint);
  const long long memory = check_memory(*matrix, options);
  auto loop = std::make_unique<detail::LsmrLoop<S>>(std::move(matrix), std::move(adjoint),
                                                    std::move(options));
  loop->memory = memory;
  return loop;
}

template <class S>
void check_field(const FieldView<S>& field, Index rows, int components, const char* name) {
  field.check();
  if (field.size == rows && field.components == components) return;
  throw Error(ErrorKind::size_mismatch, std::string(name) + " has " + std::to_string(rows) +
                                            " rows of " + std::to_string(components) +
                                            " components, its field " + std::to_string(field.size) +
                                            " of " + std::to_string(field.components));
}

}  // namespace
}  // namespace lsmr

template <class S>
Lsmr<S>::Lsmr(OperatorReference<S> matrix, LeastSquaresOptions options)
    : Lsmr(matrix, OperatorReference<S>(matrix->adjoint()), std::move(options)) {}

template <class S>
Lsmr<S>::Lsmr(OperatorReference<S> matrix, OperatorReference<S> adjoint,
              LeastSquaresOptions options)
    : loop_(lsmr::make_loop<S>(std::move(matrix), std::move(adjoint), std::move(options))) {}

template <class S>
Lsmr<S>::~Lsmr() = default;

template <class S>
LeastSquaresReport Lsmr<S>::solve(const FieldView<const S>& b, const FieldView<S>& x) {
  const LinearOperator<S>& A = loop_->matrix();
  lsmr::check_field(b, A.rows(), A.row_components(), "the right-hand side");
  lsmr::check_field(x, A.columns(), A.column_components(), "the solution");
  check_apart(b, x, "the right-hand side", "the solution");
  return loop_->solve(b, x);
}

template <class S>
const LeastSquaresHistory& Lsmr<S>::history() const {
  return loop_->history();
}

template <class S>
long long Lsmr<S>::memory() const {
  return loop_->memory;
}

template class Lsmr<float>;
template class Lsmr<double>;
HEDDLE_IN_LONG_DOUBLE(template class Lsmr<long double>;)

}  // namespace heddle
