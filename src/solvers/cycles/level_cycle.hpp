// The cycle of a multigrid: its text for one level, which products of numbers (number_cycle.hpp)
// and steps on a GPU (cycle_steps_cuda.cpp) also execute, and its execution by operators, whose
// rows ranks may share.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "heddle/composed_preconditioner.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/operators/applies_in_graph.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

/// z = M r of a level: `on` executes each line for its r and z.
template <class On>
void cycle_level(On&& on) {
  on.smooth();         // z = B r
  on.subtract();       // rest = r - A z
  on.restrict_rest();  // right = P* rest
  on.solve_coarse();   // correction = M right, by the cycle of the next coarser level
  on.interpolate();    // z += P correction
  on.smooth_again();   // z += C (r - A z), where C is the adjoint of B
}

/// `stream` for fields of a level, whose rows may be shared in another way: sums on a level are
/// over the rows of that level.
inline Stream with_share(const Stream& stream, RowShare* share) {
  Stream own = stream;
  own.share = share;
  return own;
}

/// A preconditioner whose M^-1 is an operator.
template <class S>
class InverseOperator final : public Preconditioner<S> {
 public:
  explicit InverseOperator(std::shared_ptr<const LinearOperator<S>> inverse)
      : inverse_(std::move(inverse)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(*inverse_); }
  bool is_capturable() const override {
    return inverse_->device().on_gpu() && applies_in_graph<S>(*inverse_);
  }
  long long bytes_of_application() const override {
    return inverse_->bytes_of_product() - 2 * bytes_of_field<S>(*inverse_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    inverse_->apply(S(1), r, S(0), z, stream);
  }

 private:
  std::shared_ptr<const LinearOperator<S>> inverse_;
};

template <class S>
class LevelCycle final : public Preconditioner<S> {
 public:
  /// The operators between a level and the next coarser one.
  struct Transfer {
    std::shared_ptr<const LinearOperator<S>> interpolates, restricts;
  };

  /// `before` and `after` smooth: B and C.
  LevelCycle(const LinearOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> before,
             Transfer transfer, std::shared_ptr<Preconditioner<S>> coarse,
             const LinearOperator<S>& coarse_matrix, std::shared_ptr<Preconditioner<S>> after)
      : matrix_(matrix),
        transfer_(std::move(transfer)),
        before_(std::move(before)),
        coarse_(std::move(coarse)),
        after_(std::move(after)),
        share_(matrix.device().stream().share),
        coarse_share_(coarse_matrix.device().stream().share),
        rest_(row_field_of<S>(matrix)),
        smoothed_(row_field_of<S>(matrix)),
        right_(column_field_of<S>(*transfer_.interpolates)),
        correction_(column_field_of<S>(*transfer_.interpolates)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(*matrix_); }
  bool is_constant() const override { return coarse_->is_constant(); }
  bool is_capturable() const override {
    return matrix_->device().on_gpu() && applies_in_graph<S>(matrix_->iterated()) &&
           applies_in_graph<S>(*transfer_.interpolates) &&
           applies_in_graph<S>(*transfer_.restricts) && before_->is_capturable() &&
           coarse_->is_capturable() && after_->is_capturable();
  }
  long long bytes_of_application() const override {
    // The smoothers' r and z, two copies that products subtract from, a field that the
    // interpolation adds to, and z += C (r - A z): 14 passes, of which r and z are the caller's.
    const long long coarse = static_cast<long long>(right_.scalars.size() * sizeof(S));
    return before_->bytes_of_application() + after_->bytes_of_application() +
           2 * matrix_->iterated().bytes_of_product() + transfer_.interpolates->bytes_of_product() +
           transfer_.restricts->bytes_of_product() + coarse_->bytes_of_application() + 2 * coarse +
           12 * bytes_of_field<S>(*matrix_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check_fields(r, z, rest_.view, "multigrid");
    cycle_level(Steps{*this, r, z, with_share(stream, share_), with_share(stream, coarse_share_)});
  }

 private:
  struct Steps {
    const LevelCycle& level;
    const FieldView<const S>& r;
    const FieldView<S>& z;
    Stream stream, on_coarse;

    void smooth() const { level.before_->apply(r, z, stream); }
    void subtract() const {
      axpby<S>(S(1), r, S(0), level.rest_.view, stream);
      level.matrix_->iterated().apply(S(-1), z, S(1), level.rest_.view, stream);
    }
    void restrict_rest() const {
      level.transfer_.restricts->apply(S(1), level.rest_.view, S(0), level.right_.view, on_coarse);
    }
    void solve_coarse() const {
      level.coarse_->apply(level.right_.view, level.correction_.view, on_coarse);
    }
    void interpolate() const {
      level.transfer_.interpolates->apply(S(1), level.correction_.view, S(1), z, stream);
    }
    void smooth_again() const {
      subtract();
      level.after_->apply(level.rest_.view, level.smoothed_.view, stream);
      axpby<S>(S(1), level.smoothed_.view, S(1), z, stream);
    }
  };

  OperatorReference<S> matrix_;
  Transfer transfer_;
  std::shared_ptr<Preconditioner<S>> before_, coarse_, after_;
  RowShare *share_, *coarse_share_;  // null where no ranks share the rows
  OperatorField<S> rest_, smoothed_, right_, correction_;
};

/// Throws unless the field is an operand of the matrix, in its layout and reachable for its device.
template <class S, class T>
void check_cycle_field(const SlicedOperator<S>& matrix, const FieldView<T>& field,
                       const char* name) {
  check_operand(field, matrix.rows(), matrix.row_components(), *matrix.row_basis(), "multigrid");
  const bool lies_as_ours =
      matrix.vector_layout() == VectorLayout::aos ? field.is_aos() : field.is_soa();
  if constexpr (has_cuda) {
    if (const cuda::Product* const product = matrix.product_on_gpu()) {
      return product->check_operand(field.data, lies_as_ours, name);
    }
  }
  if (!lies_as_ours) {
    throw Error(ErrorKind::size_mismatch, "multigrid: the fields differ in layout; copy one first");
  }
}

/// `part`, so many times one after the other.
template <class S>
std::shared_ptr<Preconditioner<S>> repeated(const LinearOperator<S>& matrix,
                                            std::shared_ptr<Preconditioner<S>> part, int sweeps) {
  if (sweeps <= 1) return part;
  return std::make_shared<MultiplicativePreconditioner<S>>(
      matrix, std::vector(static_cast<std::size_t>(sweeps), std::move(part)));
}

/// The cycle of a coarsest level that is smoothed.
template <class S>
std::shared_ptr<Preconditioner<S>> cycle_of_smoothers(const LinearOperator<S>& matrix,
                                                      std::shared_ptr<Preconditioner<S>> before,
                                                      std::shared_ptr<Preconditioner<S>> after) {
  if (before == after) return before;
  return std::make_shared<MultiplicativePreconditioner<S>>(
      matrix, std::vector{std::move(before), std::move(after)});
}

}  // namespace heddle::detail
