// A distributed operator for fields in the basis of another one of the same rows.
#pragma once

#include <memory>

#include "heddle/distributed_operator.hpp"

namespace heddle::detail {

/// Each matrix has interior rows of its own, so fields come in the basis of `of` and are permuted
/// where the two differ.
template <class S>
class OperatorInBasis final : public LinearOperator<S> {
 public:
  /// `of` must outlive it.
  OperatorInBasis(const DistributedOperator<S>& of,
                  std::shared_ptr<const DistributedOperator<S>> stored);

  Index rows() const override { return of_.rows(); }
  int row_components() const override { return of_.row_components(); }
  std::shared_ptr<const Basis> row_basis() const override { return of_.row_basis(); }
  Device device() const override { return of_.device(); }
  Ring ring() const override { return stored_->ring(); }
  Recurrence recurrence() const override { return stored_->recurrence(); }
  bool has_adjoint() const override { return stored_->has_adjoint(); }
  long long bytes_of_product() const override { return stored_->bytes_of_product(); }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;

 private:
  const DistributedOperator<S>& of_;
  std::shared_ptr<const DistributedOperator<S>> stored_;
  bool permutes_;
  Array<S> scalars_;
  FieldView<S> x_, y_;  // in the basis of `stored_`, if that is another
};

}  // namespace heddle::detail
