#include "heddle/solver_preconditioner.hpp"

#include <utility>

#include "base/device_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/error.hpp"

namespace heddle {

template <class S>
SolverPreconditioner<S>::SolverPreconditioner(std::shared_ptr<KrylovSolver<S>> solver)
    : solver_(std::move(solver)) {
  if (!solver_) throw Error(ErrorKind::usage, "a null pointer to a solver");
}

template <class S>
std::optional<FieldShape> SolverPreconditioner<S>::shape() const {
  const LinearOperator<S>& matrix = solver_->matrix();
  return FieldShape{matrix.rows(), matrix.row_components(), matrix.row_basis(),
                    matrix.vector_layout(), matrix.device().stream().gpu};
}

template <class S>
void SolverPreconditioner<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                    const Stream& stream) const {
  fill<S>(S(0), z, stream);
  if constexpr (has_cuda) {
    const bool is_another = stream.queue != solver_->matrix().device().stream().queue;
    if (stream.on_gpu() && is_another) cuda::synchronize(stream);
  }
  solver_->solve(r, z);
}

template <class S>
long long SolverPreconditioner<S>::bytes_of_application() const {
  return solver_->options().max_iterations * solver_->bytes_per_iteration();
}

template class SolverPreconditioner<float>;
template class SolverPreconditioner<double>;
template class SolverPreconditioner<long double>;

}  // namespace heddle
