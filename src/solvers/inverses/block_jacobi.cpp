#include "heddle/block_jacobi.hpp"

#include "base/long_double.hpp"
#include "inverse_parts.hpp"

namespace heddle {

template <class S>
BlockJacobi<S>::BlockJacobi(const detail::SlicedOperator<S>& matrix, int entries)
    : detail::ApproximateInverse<S>(std::make_shared<detail::InverseParts<S>>(
          matrix, detail::InverseForm::blocks, entries)) {}

template <class S>
std::span<const Index> BlockJacobi<S>::groups() const {
  return this->parts().groups();
}

template <class S>
const detail::SlicedOperator<S>& BlockJacobi<S>::inverse() const {
  return this->parts().first();
}

template class BlockJacobi<float>;
template class BlockJacobi<double>;
HEDDLE_IN_LONG_DOUBLE(template class BlockJacobi<long double>;)

}  // namespace heddle
