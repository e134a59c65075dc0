// What a cycle is composed of beside smoothers.
#pragma once

#include <memory>
#include <utility>

#include "heddle/preconditioner.hpp"
#include "solvers/operators/applies_in_graph.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"
#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

/// An operator that is M^-1.
template <class S>
class InverseOperator final : public Preconditioner<S> {
 public:
  explicit InverseOperator(const SlicedOperator<S>& inverse) : inverse_(inverse) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(inverse_); }
  bool is_capturable() const override {
    return inverse_.device().on_gpu() && applies_in_graph<S>(inverse_);
  }
  long long bytes_of_application() const override {
    return inverse_.bytes_of_product() - 2 * bytes_of_field<S>(inverse_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    inverse_.apply(S(1), r, S(0), z, stream);
  }

 private:
  SlicedOperator<S> inverse_;
};

/// z = B r, then z += P M P* (r - A z) and z += C (r - A z), where M is a cycle of the next coarser
/// level, B smooths before it and C, the adjoint of B, behind it.
template <class S>
class LevelCycle final : public Preconditioner<S> {
 public:
  LevelCycle(const SlicedOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> before,
             const SlicedOperator<S>& interpolate,
             std::shared_ptr<const LinearOperator<S>> restricts,
             std::shared_ptr<Preconditioner<S>> coarse, std::shared_ptr<Preconditioner<S>> after)
      : matrix_(matrix),
        interpolate_(interpolate),
        restrict_(std::move(restricts)),
        before_(std::move(before)),
        coarse_(std::move(coarse)),
        after_(std::move(after)),
        rest_(row_field_of<S>(matrix_)),
        smoothed_(row_field_of<S>(matrix_)),
        right_(column_field_of<S>(interpolate_)),
        correction_(column_field_of<S>(interpolate_)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_constant() const override { return coarse_->is_constant(); }
  bool is_capturable() const override {
    return matrix_.device().on_gpu() && applies_in_graph<S>(matrix_.iterated()) &&
           applies_in_graph<S>(interpolate_) && applies_in_graph<S>(*restrict_) &&
           before_->is_capturable() && coarse_->is_capturable() && after_->is_capturable();
  }
  long long bytes_of_application() const override {
    // Of the smoothers r and z, two copies that products subtract from, a field that the
    // interpolation adds to, and z += C (r - A z): 14 passes, of which r and z are the caller's.
    const long long coarse = static_cast<long long>(right_.scalars.size() * sizeof(S));
    return before_->bytes_of_application() + after_->bytes_of_application() +
           2 * matrix_.iterated().bytes_of_product() + interpolate_.bytes_of_product() +
           restrict_->bytes_of_product() + coarse_->bytes_of_application() + 2 * coarse +
           12 * bytes_of_field<S>(matrix_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check_fields(r, z, rest_.view, "multigrid");
    before_->apply(r, z, stream);
    leave(r, z, stream);
    restrict_->apply(S(1), rest_.view, S(0), right_.view, stream);
    coarse_->apply(right_.view, correction_.view, stream);
    interpolate_.apply(S(1), correction_.view, S(1), z, stream);
    leave(r, z, stream);
    after_->apply(rest_.view, smoothed_.view, stream);
    axpby<S>(S(1), smoothed_.view, S(1), z, stream);
  }

 private:
  /// rest = r - A z.
  void leave(const FieldView<const S>& r, const FieldView<const S>& z, const Stream& stream) const {
    axpby<S>(S(1), r, S(0), rest_.view, stream);
    matrix_.iterated().apply(S(-1), z, S(1), rest_.view, stream);
  }

  SlicedOperator<S> matrix_;
  SlicedOperator<S> interpolate_;
  std::shared_ptr<const LinearOperator<S>> restrict_;
  std::shared_ptr<Preconditioner<S>> before_, coarse_, after_;
  OperatorField<S> rest_, smoothed_, right_, correction_;
};

}  // namespace heddle::detail
