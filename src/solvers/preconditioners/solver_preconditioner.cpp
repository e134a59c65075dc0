#include "heddle/solver_preconditioner.hpp"

#include <utility>

#include "base/device_cuda.hpp"
#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/error.hpp"
#include "preconditioner_fields.hpp"
#include "solvers/krylov/krylov_parts.hpp"

namespace heddle {

template <class S>
SolverPreconditioner<S>::SolverPreconditioner(std::shared_ptr<KrylovSolver<S>> solver)
    : solver_(std::move(solver)) {
  if (!solver_) throw Error(ErrorKind::usage, "a null pointer to a solver");
}

template <class S>
std::optional<FieldShape> SolverPreconditioner<S>::shape() const {
  return detail::shape_of(solver_->matrix());
}

template <class S>
void SolverPreconditioner<S>::set_watch(const InnerWatch* watch) {
  detail::KrylovParts<S>::of(*solver_).outer = watch;
}

template <class S>
void SolverPreconditioner<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                    const Stream& stream) const {
  fill<S>(S(0), z, stream);
  if constexpr (has_cuda) {
    const bool is_another = stream.queue != solver_->matrix().device().stream().queue;
    if (stream.on_gpu() && is_another) cuda::synchronize(stream);
  }
  const Report report = solver_->solve(r, z);
  if (report.status == Status::not_hermitian || report.status == Status::not_symmetric) {
    throw Error(ErrorKind::unsupported, "the inner solver: " + std::string(report.detail));
  }
  applications_ += 1;
  iterations_ += report.iterations;
  // If no iteration gained anything, x is the guess 0, which would end the outer method.
  if (report.returned == Returned::guess) copy<S>(r, z, stream);
}

template <class S>
long long SolverPreconditioner<S>::bytes_of_application() const {
  if (applications_ == 0) return 0;
  // The residual is computed before and after the iterations.
  return iterations_ / applications_ * solver_->bytes_per_iteration() +
         2 * solver_->matrix().bytes_of_product();
}

template class SolverPreconditioner<float>;
template class SolverPreconditioner<double>;
HEDDLE_IN_LONG_DOUBLE(template class SolverPreconditioner<long double>;)

}  // namespace heddle
