// The V-cycle of a hierarchy on a GPU.
#include <memory>
#include <utility>
#include <vector>

#include "cycle_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "multigrid_hierarchy.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

namespace {

/// A cycle of steps; each would take the levels' operators several kernels, with the same bits.
template <class S>
class CycleOnGpu final : public Preconditioner<S> {
 public:
  /// `bytes`: those of an application. Holds a handle of the matrix, and nothing else of the
  /// levels.
  CycleOnGpu(const SlicedOperator<S>& matrix, std::shared_ptr<const cuda::Cycle> cycle,
             long long bytes)
      : matrix_(matrix), cycle_(std::move(cycle)), bytes_(bytes) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_capturable() const override { return true; }
  long long bytes_of_application() const override { return bytes_; }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check(r, "r");
    check(z, "z");
    check_apart(r, z, "r", "z");
    cycle_->apply(r.data, z.data, stream);
  }

 private:
  template <class T>
  void check(const FieldView<T>& field, const char* name) const {
    check_operand(field, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(),
                  "multigrid");
    const bool is_aos = matrix_.vector_layout() == VectorLayout::aos;
    matrix_.product_on_gpu()->check_operand(field.data, is_aos ? field.is_aos() : field.is_soa(),
                                            name);
  }

  SlicedOperator<S> matrix_;
  std::shared_ptr<const cuda::Cycle> cycle_;
  long long bytes_;
};

}  // namespace

/// False if steps do not cover the cycle or its smoothers, which are then composed.
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
      // An exact copy may be dropped at later values, which steps would not notice.
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
