// The set-up of approximate inverses, and the operators that apply them.
#pragma once

#include <memory>

#include "heddle/detail/sliced_operator.hpp"
#include "local_inverse.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle::cuda {
class LocalInverse;
}

namespace heddle::detail {

template <class S>
class InverseParts {
 public:
  /// `number`: the power whose pattern the inverse has; for blocks, their entries per side, 0 for
  /// natural groups.
  InverseParts(const SlicedOperator<S>& matrix, InverseForm form, int number);

  const SlicedOperator<S>& matrix() const { return matrix_; }
  /// G, or the inverse.
  const SlicedOperator<S>& first() const { return *first_; }
  /// G*; only for a factorized inverse.
  const SlicedOperator<S>& second() const { return *second_; }
  const char* name() const { return local_.name(); }
  /// Only for blocks.
  const GroupStarts& groups() const { return local_.groups(); }

  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) const;
  void refresh() {
    if (generation_ != matrix_.generation()) compute();
  }
  long long bytes_of_application() const;

  /// True if a GPU computes the values, which `queue_refresh` then does in stream order.
  bool is_computed_on_gpu() const { return on_gpu_ != nullptr; }
  void queue_refresh(Index* singular_row, const Stream& stream);

 private:
  using D = sum_t<S>;

  void make_operators(InverseForm form);
  void make_on_gpu();
  void compute();

  SlicedOperator<S> matrix_;
  LocalInverse<S> local_;
  StoredRows rows_;  // rows of the matrix
  Array<D> values_;  // the matrix's components
  std::shared_ptr<SlicedOperator<S>> first_, second_;
  std::shared_ptr<OperatorField<S>> between_;   // G r
  std::shared_ptr<cuda::LocalInverse> on_gpu_;  // the host's arrays above are then empty
  long long generation_ = -1;
};

extern template class InverseParts<float>;
extern template class InverseParts<double>;
extern template class InverseParts<long double>;

}  // namespace heddle::detail
