// What a cycle is composed of beside smoothers.
#pragma once

#include <memory>
#include <utility>

#include "applies_in_graph.hpp"
#include "heddle/preconditioner.hpp"
#include "operator_checks.hpp"
#include "operator_field.hpp"
#include "preconditioner_fields.hpp"
#include "tile_matrix.hpp"

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

/// z = P M P* r, where M is a cycle of the next coarser level.
template <class S>
class CoarseCorrection final : public Preconditioner<S> {
 public:
  CoarseCorrection(const SlicedOperator<S>& interpolate, std::shared_ptr<Preconditioner<S>> coarse)
      : interpolate_(interpolate),
        restrict_(interpolate.adjoint()),
        coarse_(std::move(coarse)),
        right_(column_field_of<S>(interpolate_)),
        correction_(column_field_of<S>(interpolate_)) {}

  std::optional<FieldShape> shape() const override {
    return FieldShape{interpolate_.rows(), interpolate_.row_components(), interpolate_.row_basis(),
                      interpolate_.vector_layout(), interpolate_.device().stream().gpu};
  }
  bool is_constant() const override { return coarse_->is_constant(); }
  bool is_capturable() const override {
    return interpolate_.device().on_gpu() && applies_in_graph<S>(interpolate_) &&
           applies_in_graph<S>(*restrict_) && coarse_->is_capturable();
  }
  long long bytes_of_application() const override {
    const long long coarse = static_cast<long long>(right_.scalars.size() * sizeof(S));
    return interpolate_.bytes_of_product() + restrict_->bytes_of_product() + 2 * coarse -
           2 * bytes_of_field<S>(interpolate_) + coarse_->bytes_of_application();
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    restrict_->apply(S(1), r, S(0), right_.view, stream);
    coarse_->apply(right_.view, correction_.view, stream);
    interpolate_.apply(S(1), correction_.view, S(0), z, stream);
  }

 private:
  SlicedOperator<S> interpolate_;
  std::shared_ptr<const LinearOperator<S>> restrict_;
  std::shared_ptr<Preconditioner<S>> coarse_;
  OperatorField<S> right_, correction_;
};

}  // namespace heddle::detail
