// What a cycle over levels whose rows ranks share is composed of beside smoothers.
#pragma once

#include <memory>
#include <utility>

#include "heddle/distributed_operator.hpp"
#include "rank_transfer.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

/// The queue of a cycle on a level, whose sums are over the rows of that level.
template <class S>
Stream stream_on(const DistributedOperator<S>& level, const Stream& stream) {
  Stream own = stream;
  own.share = level.device().stream().share;
  return own;
}

/// An operator that is M^-1.
template <class S>
class RankInverse final : public Preconditioner<S> {
 public:
  explicit RankInverse(std::shared_ptr<const RankTransfer<S>> inverse)
      : inverse_(std::move(inverse)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(*inverse_); }
  long long bytes_of_application() const override {
    return inverse_->bytes_of_product() - 2 * bytes_of_field<S>(*inverse_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    inverse_->apply(S(1), r, S(0), z, stream);
  }

 private:
  std::shared_ptr<const RankTransfer<S>> inverse_;
};

/// z = B r, then z += P M P* (r - A z) and z += C (r - A z), where M is a cycle of the next coarser
/// level, B smooths before it and C behind it, step by step as `LevelCycle`.
template <class S>
class RankCycle final : public Preconditioner<S> {
 public:
  RankCycle(const DistributedOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> before,
            std::shared_ptr<const RankTransfer<S>> interpolate,
            std::shared_ptr<const RankTransfer<S>> restricts,
            std::shared_ptr<Preconditioner<S>> coarse, const DistributedOperator<S>& coarse_matrix,
            std::shared_ptr<Preconditioner<S>> after)
      : matrix_(matrix),
        coarse_matrix_(coarse_matrix),
        before_(std::move(before)),
        coarse_(std::move(coarse)),
        after_(std::move(after)),
        interpolate_(std::move(interpolate)),
        restrict_(std::move(restricts)),
        rest_(row_field_of<S>(matrix)),
        smoothed_(row_field_of<S>(matrix)),
        right_(row_field_of<S>(coarse_matrix)),
        correction_(row_field_of<S>(coarse_matrix)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_constant() const override { return coarse_->is_constant(); }
  long long bytes_of_application() const override {
    // The passes of `LevelCycle`.
    return before_->bytes_of_application() + after_->bytes_of_application() +
           2 * matrix_.bytes_of_product() + interpolate_->bytes_of_product() +
           restrict_->bytes_of_product() + coarse_->bytes_of_application() +
           2 * bytes_of_field<S>(coarse_matrix_) + 12 * bytes_of_field<S>(matrix_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& given) const override {
    check_fields(r, z, rest_.view, "multigrid");
    const Stream stream = stream_on(matrix_, given), on_coarse = stream_on(coarse_matrix_, given);
    before_->apply(r, z, stream);
    leave(r, z, stream);
    restrict_->apply(S(1), rest_.view, S(0), right_.view, on_coarse);
    coarse_->apply(right_.view, correction_.view, on_coarse);
    interpolate_->apply(S(1), correction_.view, S(1), z, stream);
    leave(r, z, stream);
    after_->apply(rest_.view, smoothed_.view, stream);
    axpby<S>(S(1), smoothed_.view, S(1), z, stream);
  }

 private:
  /// rest = r - A z.
  void leave(const FieldView<const S>& r, const FieldView<const S>& z, const Stream& stream) const {
    axpby<S>(S(1), r, S(0), rest_.view, stream);
    matrix_.apply(S(-1), z, S(1), rest_.view, stream);
  }

  const DistributedOperator<S>&matrix_, &coarse_matrix_;
  std::shared_ptr<Preconditioner<S>> before_, coarse_, after_;
  std::shared_ptr<const RankTransfer<S>> interpolate_, restrict_;
  OperatorField<S> rest_, smoothed_, right_, correction_;
};

}  // namespace heddle::detail
