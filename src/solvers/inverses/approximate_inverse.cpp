#include "heddle/approximate_inverse.hpp"

#include "base/long_double.hpp"
#include "inverse_parts.hpp"

namespace heddle {

namespace detail {

template <class S>
std::optional<FieldShape> ApproximateInverse<S>::shape() const {
  const SlicedOperator<S>& matrix = parts_->matrix();
  const bool on_gpu = matrix.device().on_gpu();
  return FieldShape{matrix.rows(), matrix.row_components(), matrix.row_basis(),
                    on_gpu ? std::optional(matrix.vector_layout()) : std::nullopt,
                    matrix.device().stream().gpu};
}

template <class S>
void ApproximateInverse<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                  const Stream& stream) const {
  parts_->apply(r, z, stream);
}

template <class S>
void ApproximateInverse<S>::refresh() {
  parts_->refresh();
}

template <class S>
bool ApproximateInverse<S>::refreshes_in_graph() const {
  return parts_->is_computed_on_gpu();
}

template <class S>
void ApproximateInverse<S>::queue_refresh(Index* singular_row, const Stream& stream) {
  parts_->queue_refresh(singular_row, stream);
}

template <class S>
bool ApproximateInverse<S>::is_capturable() const {
  return parts_->first().product_on_gpu() != nullptr;
}

template <class S>
long long ApproximateInverse<S>::bytes_of_application() const {
  return parts_->bytes_of_application();
}

template class ApproximateInverse<float>;
template class ApproximateInverse<double>;
HEDDLE_IN_LONG_DOUBLE(template class ApproximateInverse<long double>;)

}  // namespace detail

template <class S>
Fsai<S>::Fsai(const detail::SlicedOperator<S>& matrix, int power)
    : detail::ApproximateInverse<S>(std::make_shared<detail::InverseParts<S>>(
          matrix, detail::InverseForm::factorized, power)) {}

template <class S>
const detail::SlicedOperator<S>& Fsai<S>::factor() const {
  return this->parts().first();
}
template <class S>
const detail::SlicedOperator<S>& Fsai<S>::adjoint_factor() const {
  return this->parts().second();
}

template <class S>
Isai<S>::Isai(const detail::SlicedOperator<S>& matrix, int power)
    : detail::ApproximateInverse<S>(
          std::make_shared<detail::InverseParts<S>>(matrix, detail::InverseForm::general, power)) {}

template <class S>
const detail::SlicedOperator<S>& Isai<S>::inverse() const {
  return this->parts().first();
}

template class Fsai<float>;
template class Fsai<double>;
HEDDLE_IN_LONG_DOUBLE(template class Fsai<long double>;)
template class Isai<float>;
template class Isai<double>;
HEDDLE_IN_LONG_DOUBLE(template class Isai<long double>;)

}  // namespace heddle
