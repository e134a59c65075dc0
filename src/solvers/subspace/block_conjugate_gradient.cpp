#include "heddle/block_conjugate_gradient.hpp"

#include <algorithm>
#include <string>

#include "base/long_double.hpp"
#include "block_conjugate_gradient_loop.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle {

namespace block_conjugate_gradient {
namespace {

template <class S>
void check_system(const detail::BlockSystem<S>& system) {
  const LinearOperator<S>& matrix = *system.matrix;
  detail::check_square(matrix, "block conjugate gradient");
  if (!matrix.has_adjoint()) {
    throw Error(ErrorKind::unsupported,
                "block conjugate gradient needs a Hermitian matrix, and these entries have no "
                "adjoint");
  }
  if (matrix.row_components() % ring_size(matrix.coefficient_ring()) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix.row_components()) +
                                              " components are not whole elements of the ring");
  }
  if (!system.preconditioner) return;
  detail::check_fits(*system.preconditioner, matrix);
  const auto refuse = [](const char* why) {
    throw Error(ErrorKind::unsupported,
                "block conjugate gradient needs a constant Hermitian preconditioner, and this one "
                "says that it " +
                    std::string(why));
  };
  if (!system.preconditioner->is_constant()) refuse("varies");
  if (!system.preconditioner->is_hermitian()) refuse("is not Hermitian");
}

template <class S>
std::unique_ptr<detail::BlockSolve<S>> make_loop(detail::BlockSystem<S> system) {
  check_system(system);
  detail::check_options(system.options);
  switch (system.matrix->coefficient_ring()) {
    case Ring::complex:
      return std::make_unique<detail::BlockConjugateGradientLoop<Ring::complex, S>>(
          std::move(system));
    case Ring::quaternion:
      return std::make_unique<detail::BlockConjugateGradientLoop<Ring::quaternion, S>>(
          std::move(system));
    case Ring::real:
      break;
  }
  return std::make_unique<detail::BlockConjugateGradientLoop<Ring::real, S>>(std::move(system));
}

/// Bytes of a loop with `columns` columns. Throws `Error` (memory) if they are not available in
/// addition to what the preconditioner has yet to allocate; `held` bytes are given back before.
template <class S>
long long check_memory(const detail::BlockSystem<S>& system, int columns, long long held) {
  const LinearOperator<S>& matrix = *system.matrix;
  const long long field = detail::bytes_of_field(matrix);
  const long long fields =
      columns * detail::BlockConjugateGradientLoop<Ring::real, S>::fields_of_column;
  const long long own = fields * field + detail::BlockOperations<Ring::quaternion, S>::bytes(
                                             columns, matrix.rows(), matrix.device().stream());
  long long needed = own;
  if (system.preconditioner && held == 0) {
    const Workspace later = system.preconditioner->workspace();
    needed += later.fields * field + later.bytes;
  }
  detail::check_available(
      matrix, "block conjugate gradient of " + std::to_string(columns) + " right-hand sides needs",
      fields, needed, held);
  return own;
}

/// Throws `Error` unless the fields have the right number, fit, and lie apart.
template <class S>
void check_fields(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                  const LinearOperator<S>& matrix) {
  constexpr std::size_t most = BlockConjugateGradient<S>::max_columns;
  if (b.empty() || b.size() > most || b.size() != x.size()) {
    throw Error(ErrorKind::size_mismatch,
                "block conjugate gradient takes 1 to " + std::to_string(most) +
                    " right-hand sides and the same number of solutions, not " +
                    std::to_string(b.size()) + " and " + std::to_string(x.size()));
  }
  b.front().check();
  if (b.front().size != matrix.rows() || b.front().components != matrix.row_components()) {
    throw Error(ErrorKind::size_mismatch,
                "the operator has " + std::to_string(matrix.rows()) + " rows of " +
                    std::to_string(matrix.row_components()) + " components, a right-hand side " +
                    std::to_string(b.front().size) + " of " + std::to_string(b.front().components));
  }
  for (std::size_t j = 0; j < b.size(); ++j) {
    check_same_shape(b[j], b.front(), "the right-hand side");
    check_same_shape(x[j], b.front(), "the solution");
    for (std::size_t k = 0; k < b.size(); ++k) {
      check_apart(b[k], x[j], "a right-hand side", "a solution");
      if (k < j) check_apart(x[k], x[j], "one solution", "another");
    }
  }
}

}  // namespace
}  // namespace block_conjugate_gradient

template <class S>
BlockConjugateGradient<S>::BlockConjugateGradient(OperatorReference<S> matrix,
                                                  std::shared_ptr<Preconditioner<S>> preconditioner,
                                                  SolverOptions options)
    : loop_(block_conjugate_gradient::make_loop<S>(
          {std::move(matrix), std::move(preconditioner), std::move(options)})) {}

template <class S>
BlockConjugateGradient<S>::~BlockConjugateGradient() = default;

template <class S>
std::vector<Report> BlockConjugateGradient<S>::solve(std::span<const FieldView<const S>> b,
                                                     std::span<const FieldView<S>> x) {
  block_conjugate_gradient::check_fields<S>(b, x, *loop_->system().matrix);
  const auto columns = static_cast<int>(b.size());
  if (columns > loop_->columns()) {
    const long long bytes =
        block_conjugate_gradient::check_memory(loop_->system(), columns, loop_->memory);
    loop_->memory = 0;
    loop_->reserve(columns);
    loop_->memory = bytes;
  }
  return loop_->solve(b, x);
}

template <class S>
const std::vector<double>& BlockConjugateGradient<S>::history(std::size_t column) const {
  return loop_->history.at(column);
}

template <class S>
void BlockConjugateGradient<S>::set_null_space(const std::vector<FieldView<const S>>&) {
  throw Error(ErrorKind::unsupported, "block conjugate gradient takes no null space");
}

template <class S>
long long BlockConjugateGradient<S>::memory() const {
  return loop_->memory;
}

template <class S>
const SolverOptions& BlockConjugateGradient<S>::options() const {
  return loop_->system().options;
}

template <class S>
void BlockConjugateGradient<S>::set_options(SolverOptions options) {
  detail::check_options(options);
  loop_->set_options(std::move(options));
}

template class BlockConjugateGradient<float>;
template class BlockConjugateGradient<double>;
HEDDLE_IN_LONG_DOUBLE(template class BlockConjugateGradient<long double>;)

}  // namespace heddle
