// The V-cycle of a hierarchy on a GPU.
#include <vector>

#include "cycle_on_gpu.hpp"
#include "heddle/config.hpp"
#include "multigrid_hierarchy.hpp"

namespace heddle::detail {

/// False where the cycle or its smoothers are others than steps make: they are composed then.
template <class S>
bool Hierarchy<S>::make_cycle_of_steps() {
  const bool is_polynomial =
      options_.smoother == Smoother::chebyshev || options_.smoother == Smoother::jacobi;
  if (!matrix_.device().on_gpu() || options_.cycle != Cycle::v || !is_polynomial ||
      levels_.size() < 2) {
    return false;
  }
  if constexpr (has_cuda) {
    const bool sweeps = options_.smoother == Smoother::jacobi;
    std::vector<cuda::CycleLevel> levels;
    std::vector<const SlicedOperator<S>*> operators;
    for (const auto& level : levels_) {
      const auto product_of = [&](const SlicedOperator<S>& matrix) {
        operators.push_back(&matrix);
        return matrix.product_on_gpu();
      };
      cuda::CycleLevel parts;
      // An exact copy may step aside for later values, which steps do not see.
      const bool is_exact_copy = is_exact(level->product->plan().layout.stored);
      parts.matrix = product_of(is_exact_copy ? *level->product : level->product->iterated());
      if (level->inverse) {
        parts.inverse = product_of(*level->inverse);
      } else {
        parts.jacobi = level->jacobi->rows_on_gpu();
        parts.bytes_of_jacobi = level->jacobi->bytes_of_application();
        parts.coefficients = level->numbers.data();
        parts.degree = sweeps ? 0 : options_.degree;
        parts.sweeps = sweeps ? options_.degree : 1;
      }
      if (level->interpolate) {
        parts.restricts = product_of(*level->restrict);
        parts.interpolates = product_of(*level->interpolate);
      }
      levels.push_back(parts);
    }
    auto cycle = std::make_shared<const cuda::Cycle>(levels, matrix_.device());
    long long bytes = cycle->bytes_beside_products() - 2 * bytes_of_field<S>(matrix_);
    for (const SlicedOperator<S>* const matrix : operators) {
      bytes += cycle->products_with(*matrix->product_on_gpu()) * matrix->bytes_of_product();
    }
    cycle_ = std::make_shared<CycleOnGpu<S>>(matrix_, std::move(cycle), bytes);
  }
  return true;
}

template bool Hierarchy<float>::make_cycle_of_steps();
template bool Hierarchy<double>::make_cycle_of_steps();

}  // namespace heddle::detail
