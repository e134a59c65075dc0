#include "heddle/detail/copied_entries.hpp"

#include "base/long_double.hpp"

namespace heddle::detail {

template <class S>
SlicedOperator<S> CopiedEntries<S>::diagonal(const Make& make) {
  const std::lock_guard lock(making_);
  if (all_) return *all_;
  if (!diagonal_) diagonal_ = std::make_unique<SlicedOperator<S>>(make());
  return *diagonal_;
}

template <class S>
SlicedOperator<S> CopiedEntries<S>::all(const Make& make) {
  const std::lock_guard lock(making_);
  if (!all_) all_ = std::make_unique<SlicedOperator<S>>(make());
  return *all_;
}

template <class S>
long long CopiedEntries<S>::bytes() const {
  const std::lock_guard lock(making_);
  return (diagonal_ ? diagonal_->memory().total() : 0) + (all_ ? all_->memory().total() : 0);
}

template class CopiedEntries<float>;
template class CopiedEntries<double>;
HEDDLE_IN_LONG_DOUBLE(template class CopiedEntries<long double>;)

}  // namespace heddle::detail
