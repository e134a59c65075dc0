#include "heddle/conjugate_gradient.hpp"

#include "base/long_double.hpp"
#include "continued_conjugate_gradient.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/methods/conjugate_gradient.hpp"
#include "heddle/methods/continued_conjugate_gradient.hpp"
#include "heddle/methods/single_reduction_conjugate_gradient.hpp"
#include "solvers/gpu_loops/ranks_in_loop.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

namespace {

/// True if the plan sums once an iteration and its loop is a graph, or any loop of ranks with GPUs:
/// a single rank has no graph, yet needs the same bits as two. False with a preconditioner that is
/// work of its own, because it would come between the sums.
template <class S>
bool has_single_reduction(const LinearOperator<S>& matrix,
                          const Preconditioner<S>* preconditioner) {
  if (preconditioner != nullptr && preconditioner->rows_on_gpu() == nullptr) return false;
  if (const cuda::Product* product = matrix.iterated().product_on_gpu()) {
    const Loop& loop = product->plan().loop;
    return loop.single_reduction && (loop.form == LoopForm::graph || loop.form == LoopForm::replay);
  }
  const auto* const ranks = dynamic_cast<const cuda::RanksInLoop*>(matrix.device().stream().share);
  const cuda::RankProduct* const product = ranks != nullptr ? ranks->product_of(&matrix) : nullptr;
  return product != nullptr && product->sums_once();
}

}  // namespace

template <class S>
detail::MethodOver<S> ConjugateGradient<S>::method(const LinearOperator<S>& matrix,
                                                   const Preconditioner<S>* preconditioner) {
  const bool preconditioned = preconditioner != nullptr;
  const bool on_copy = &matrix.iterated() != &matrix;
  const MethodInfo row = method_rows::row_of_loop(
      method_rows::conjugate_gradient, on_copy ? matrix.iterated_as() : StoredScalar::own,
      has_single_reduction(matrix, preconditioner));
  if (row.type == method_rows::continued_conjugate_gradient.type) {
    return detail::method_over<methods::ContinuedConjugateGradient, false, S>(row, Ring::real,
                                                                              preconditioned);
  }
  if (row.type == method_rows::single_reduction_conjugate_gradient.type) {
    return detail::method_over<methods::SingleReductionConjugateGradient, false, S>(row, Ring::real,
                                                                                    preconditioned);
  }
  return detail::method_over<methods::ConjugateGradient, false, S>(row, Ring::real, preconditioned);
}

namespace {

/// Continued conjugate gradient, whatever the plan says about sums and copies: many runs end.
class ContinuedSolver final : public KrylovSolver<float> {
 public:
  ContinuedSolver(OperatorReference<float> matrix,
                  std::shared_ptr<Preconditioner<float>> preconditioner, SolverOptions options)
      : KrylovSolver<float>(
            matrix, preconditioner, std::move(options),
            detail::method_over<methods::ContinuedConjugateGradient, false, float>(
                method_rows::continued_conjugate_gradient, Ring::real, preconditioner != nullptr)) {
  }
};

}  // namespace

std::unique_ptr<KrylovSolver<float>> detail::continued_conjugate_gradient(
    OperatorReference<float> matrix, std::shared_ptr<Preconditioner<float>> preconditioner,
    SolverOptions options) {
  return std::make_unique<ContinuedSolver>(std::move(matrix), std::move(preconditioner),
                                           std::move(options));
}

template class ConjugateGradient<float>;
template class ConjugateGradient<double>;
HEDDLE_IN_LONG_DOUBLE(template class ConjugateGradient<long double>;)

}  // namespace heddle
